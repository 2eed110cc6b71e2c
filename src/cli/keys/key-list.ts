import { numberIn, textIn, textsIn } from '../../storage/document-fields.ts'
import { command } from '../command.ts'
import { urlFlag, withManagement } from '../open-management.ts'
import { ownerOperand } from './owner-operand.ts'

export const keyList = command({
  name: 'key list',
  operands: [ownerOperand],
  flags: urlFlag,
  summary: 'Lists the API keys of a user.',
  about:
    'Prints one line for each key: its name, its first characters, its scopes, when it expires and when it was last used.',
  async run({ positionals: [owner = ''], values: { url } }, terminal) {
    const { keysOf } = await import('./stored-keys.ts')
    const found = await withManagement(terminal, url, (management) => keysOf(management, owner))
    for (const { name, hint, scopes, expiry, last_used } of found) {
      const held = textsIn(scopes).join(',')
      const [ends, used] = [dayOf(numberIn(expiry)), dayOf(numberIn(last_used))]
      terminal.print([textIn(name), textIn(hint), held, `expires ${ends}`, `used ${used}`].join('\t'))
    }
    if (found.length === 0) terminal.complain('The user has no API keys.')
    return 0
  },
})

/** Unix seconds; 0 = never. */
function dayOf(seconds: number): string {
  return seconds === 0 ? 'never' : new Date(seconds * 1000).toISOString().slice(0, 10)
}
