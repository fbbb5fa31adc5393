"""What simple_switch adds to BMv2's service."""

from drop_in_elsewhere import prefer_package

prefer_package(__path__, "sswitch_runtime/SimpleSwitch.py")
