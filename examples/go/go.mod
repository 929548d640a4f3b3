module example.com/orrery

go 1.19
