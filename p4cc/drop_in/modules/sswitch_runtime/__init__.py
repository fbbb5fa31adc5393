"""What simple_switch adds to BMv2's service."""
