"""What a pipeline does when what it reads is changed: is it faithful, and can it be poisoned?"""
