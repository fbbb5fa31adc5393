"""Clients of BMv2's Thrift services under the names of generated code; they need the package `thrift`."""
