# A package, so that test_masks.py here and the one above have different names.
