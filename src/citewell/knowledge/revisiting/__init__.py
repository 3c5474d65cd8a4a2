"""Past answers, looked at again: against today's documents, made anew, told once more.

rechecking   do their citations stand today, do their claims? who is told of a recall?
replaying    made anew on their index version and compared bit by bit
recounting   the answer once more, from its record
"""
