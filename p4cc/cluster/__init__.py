"""Studies on a cluster: runs as tasks of Ray, inputs and results as content, a store that several machines share."""
