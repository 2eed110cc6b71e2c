import { defineFlow } from '../block.ts'
import { channelName } from '../names.ts'
import { messageText } from './message-text.ts'

export default defineFlow({
  identifier: 'publish',
  title: 'Publish',
  summary:
    'Sends a value to the clients that are subscribed to a channel at this moment, on every node. It is sent when the writes of the run are committed, and not at all when they are not. A client gets it once or, when its connection breaks, not at all.',
  effects: { sends: ['message'], callerIndependent: true },
  in: {
    channel: {
      type: 'value',
      required: true,
      help: 'Name of the channel, 1 to 200 characters, for example order-42.',
    },
    value: { type: 'any', help: 'What is sent, as JSON. At most 65,536 characters. Empty: null.' },
  },
  out: {},
  settings: {},
  run({ channel, value }, context) {
    context.publish(channelName('channel', channel), messageText('value', value))
    return undefined
  },
})
