"""Past answers revisited: checked against today's documents, reproduced, rebuilt from the record.

rechecking   do their citations and claims still hold? who is notified of a recall?
replaying    reproduced on their index version and compared bit by bit
recounting   the answer rebuilt from its record
"""
