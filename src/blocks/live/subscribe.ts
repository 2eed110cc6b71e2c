import { defineFlow } from '../block.ts'
import { channelName } from '../names.ts'
import { ChannelReply } from '../reply.ts'
import { messageText } from './message-text.ts'

export default defineFlow({
  identifier: 'subscribe',
  title: 'Subscribe',
  summary:
    'Replies to a GET request with an event stream: the client gets what is published to a channel from now on. Who may subscribe is decided by the scopes of the trigger and by the blocks before this one. The flow continues after the reply.',
  subscribes: true,
  in: {
    connection: {
      type: 'connection',
      help: 'The request to reply to. Default: the one that started the flow.',
    },
    channel: {
      type: 'value',
      required: true,
      help: 'Name of the channel, 1 to 200 characters, for example order-42.',
    },
    first: {
      type: 'any',
      help: 'Sent at once as the first event, as JSON. At most 65,536 characters. Empty: nothing is sent at once.',
    },
    minutes: {
      type: 'number',
      default: 60,
      min: 1,
      max: 1440,
      help: 'How long a stream lasts. Then it ends, the client connects again, and the flow decides again whether it may.',
    },
  },
  out: {},
  settings: {},
  run({ channel, first, minutes }, context) {
    const text = first === undefined || first === null ? undefined : messageText('first', first)
    const value = new ChannelReply(channelName('channel', channel), text, minutes * 60_000)
    context.reply({ code: 200, value, headers: {} })
    return undefined
  },
})
