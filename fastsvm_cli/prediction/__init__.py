"""Prediction of rows."""
