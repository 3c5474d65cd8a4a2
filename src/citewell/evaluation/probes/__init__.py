"""What a pipeline does when what it reads is changed: is it faithful, can it be poisoned, what is caught?"""
