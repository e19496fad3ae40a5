-- A fault in a text that the script compiles itself.
load("local x = 1; x()")()
