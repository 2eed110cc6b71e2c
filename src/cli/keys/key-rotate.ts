import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'
import { UsageError } from '../read-words.ts'
import { aboutOwner, ownerOperand } from './owner-operand.ts'

const DAY = 86_400

export const keyRotate = command({
  name: 'key rotate',
  operands: [ownerOperand, { name: '<name>' }],
  flags: {
    overlap: {
      type: 'string',
      value: '<seconds>',
      help: 'How long the present key stays valid: a day without it; 0 ends it at once.',
    },
    ...urlFlag,
  },
  summary: 'Gives an API key a new secret and prints it.',
  about: `The key is shown only now. ${aboutOwner}`,
  async run({ positionals: [owner = '', name = ''], values: { overlap, url } }, terminal) {
    if (overlap !== undefined && !/^\d{1,8}$/.test(overlap))
      throw new UsageError(`--overlap must be a number of seconds; got ${overlap}.`)
    const seconds = overlap === undefined ? DAY : Number(overlap)
    const { rotateKey } = await import('./stored-keys.ts')
    const rotated = await withManagement(terminal, url, (management) =>
      rotateKey(management, owner, name, seconds),
    )
    terminal.print(rotated)
    return 0
  },
})
