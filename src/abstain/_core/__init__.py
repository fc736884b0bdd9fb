"""What every layer uses: validation, files, the registry of classes, signals."""
