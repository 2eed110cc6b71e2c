import { countedAddress } from '../../shared/counted-address.ts'
import { defineFlow, PinError } from '../block.ts'
import { readDuration } from '../pins/scalar-values.ts'

const LONGEST_WINDOW = 31 * 86_400_000

export default defineFlow({
  identifier: 'limit',
  title: 'Limit',
  summary:
    'Lets a number of calls pass in a window of time, for each key, over all nodes. The window begins with the first call that passes. The count is stored at once: a run that fails later still counts. Place it before blocks that read or write: what the run wrote before is committed.',
  effects: { calls: 'detached' },
  in: {
    key: {
      type: 'value',
      help: 'What is counted together, such as an e-mail address or a user. Only its hash is stored. Required unless per is address.',
    },
    limit: {
      type: 'number',
      default: 5,
      integer: true,
      min: 0,
      max: 1_000_000_000,
      help: 'How many calls pass in a window.',
    },
    window: {
      type: 'value',
      default: '1m',
      help: 'Length of the window: seconds, or 30s, 5m, 2h, 1d; at most 31d.',
    },
    amount: {
      type: 'number',
      default: 1,
      integer: true,
      min: 0,
      max: 1_000_000,
      help: 'How much this call counts. 0 counts nothing and asks whether one more would pass.',
    },
    name: {
      type: 'value',
      help: 'Blocks with the same name count together, in all blueprints. Empty: this block counts alone.',
    },
  },
  out: {
    exceeded: {
      type: 'flow',
      help: 'Taken when the limit is reached. Not wired: a request without a reply gets 429 and retry-after.',
    },
    remaining: { type: 'number', help: 'How much the window still allows.' },
    retry_after: { type: 'number', help: 'Seconds until the window ends; 0 when the call passes.' },
  },
  settings: {
    per: {
      kind: 'choice',
      options: ['key', 'address'],
      default: 'key',
      help: 'key: each key has a count. address: each key has a count for each client address; of IPv6 the first 64 bits are the address.',
    },
  },
  async run(inputs, context) {
    const { limit: most, amount } = inputs
    const window = readDuration(inputs.window)
    if (window === undefined || window < 1_000 || window > LONGEST_WINDOW)
      throw new PinError('window', 'must be seconds or 30s, 5m, 2h, 1d; at least 1s and at most 31d')
    const { key = '', name = '' } = inputs
    const byAddress = context.settings.per === 'address'
    if (!byAddress && key === '') throw new PinError('key', 'is empty')
    const ip = byAddress ? context.request?.ip : ''
    if (ip === undefined)
      throw new Error('A run without a request has no client address. Use a key, and per: key.')
    const together = name.trim() === '' ? ['block', context.block ?? ''] : ['name', name.trim()]
    const counted = await context.services.counts.count({
      key: JSON.stringify([...together, countedAddress(ip), key]),
      ...{ window, most, amount },
    })
    const input = { remaining: counted.remaining, retry_after: counted.retryAfter }
    return counted.allowed ? input : { ...input, next: 'exceeded' }
  },
})
