"""Grades students' programs by packet tests: a course's file, submissions in processes with limits, results."""
