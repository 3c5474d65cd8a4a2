"""Past answers revisited: checked against today's documents, reproduced.

rechecking   do their citations and claims still hold? who is notified of a recall?
replaying    reproduced on their index version and compared bit by bit
"""
