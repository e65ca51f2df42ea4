"""Installed as the module fastsvm, so that `import fastsvm` beside a folder of that name finds no empty package."""

raise ModuleNotFoundError("fastsvm's Python package is fastsvm_cli: import fastsvm_cli as fastsvm", name="fastsvm")
