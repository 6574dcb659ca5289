import os

import discord

client = discord.Client(intents=discord.Intents.default())


@client.event
async def on_message(message):
    if message.author != client.user and "!roll" in message.content:
        await message.channel.send("You rolled a four")


client.run(os.environ["BOT_TOKEN"])
