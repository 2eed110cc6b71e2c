import { defineFlow } from '../block.ts'
import type { InPins } from '../pin.ts'

const further = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'] as const

export default defineFlow({
  identifier: 'join',
  title: 'Join branches',
  summary:
    'Continues once when every wired flow in-pin was reached: wire the end of each parallel branch to a pin of its own.',
  effects: { cacheable: true, callerIndependent: true },
  joins: true,
  in: {
    flow: {
      type: 'flow',
      help: 'The end of one branch. Several wires into one pin: the first of them that arrives counts.',
    },
    ...branchPins(),
  },
  out: {},
  settings: {},
  run: () => undefined,
})

function branchPins(): InPins {
  return Object.fromEntries(further.map((id) => [id, { type: 'flow', help: 'The end of a further branch.' }]))
}
