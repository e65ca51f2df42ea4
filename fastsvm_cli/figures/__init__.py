"""What `--plot` draws: figures for a column of a paper, of plain numbers. The only room that loads matplotlib."""
