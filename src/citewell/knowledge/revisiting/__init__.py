"""Past answers, looked at again: against today's documents, made anew, told once more.

rechecking   do their citations stand today, do their claims?
replaying    made anew on their index version and compared bit by bit (comparing)
recalling    who is told when a document is recalled
recounting   the answer once more, from its record
"""
