import type { JsonValue } from '../../shared/json.ts'
import { defineValue, PinError } from '../block.ts'
import type { PerFrame } from '../pin.ts'

const MAX_ITEMS = 10_000

export default defineValue({
  identifier: 'array_map',
  title: 'Map a list',
  words: 'Map {array}',
  summary:
    'Creates a new list: the blocks between item and result are evaluated once for each item of the input list.',
  in: {
    array: { type: 'array', help: 'The list, of at most 10,000 items. Empty: an empty list.' },
    result: {
      type: 'any',
      perFrame: true,
      help: 'New value of each item, calculated from item and index. Empty: null. Not wired: the list is unchanged.',
    },
  },
  out: {
    array: { type: 'array', help: 'The new list, with as many items.' },
    item: {
      type: 'any',
      frame: true,
      help: 'The current item. Only for blocks that lead to result.',
    },
    index: {
      type: 'number',
      frame: true,
      help: 'Position of the item, from 0. Only for blocks that lead to result.',
    },
  },
  settings: {},
  value(inputs) {
    const array = inputs.array ?? []
    if (array.length > MAX_ITEMS) throw new PinError('array', 'must hold at most 10,000 items')
    const pull: PerFrame<JsonValue> | undefined = inputs.result
    if (pull === undefined) return { array }
    return { array: array.map((item, index) => pull({ item, index }) ?? null) }
  },
})
