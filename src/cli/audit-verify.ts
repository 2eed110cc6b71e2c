import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json.ts'
import { numberIn, objectsIn, textIn } from '../storage/document-fields.ts'
import { command } from './command.ts'
import { urlFlag, withManagement } from './open-management.ts'

export const auditVerify = command({
  name: 'audit verify',
  operands: [],
  flags: urlFlag,
  summary: 'Checks that the audit log is as it was written.',
  about: `Each record has an entry in a chain of hashes, and the end of each day is signed with a key made from QUOIN_SECRETS_KEY.
Prints each record that was changed, removed or added since, and each place where the
chain is broken or a signature does not hold. Exit 1 if there is one.`,
  async run({ values: { url } }, terminal) {
    return withManagement(terminal, url, async (management) => {
      let [checked, signed, unsigned, faults] = [0, 0, 0, 0]
      let from: JsonValue | undefined
      do {
        const body: JsonObject = from === undefined ? {} : { from }
        const reply = await management.call('POST', '/_system/auditlogs/check', body)
        if (!isJsonObject(reply)) break
        for (const { fault, record, place, message } of objectsIn(reply.faults)) {
          faults += 1
          const what = textIn(record) || `entry ${String(place)}`
          terminal.print(`${textIn(fault)}\t${what}\t${textIn(message)}`)
        }
        checked += numberIn(reply.checked)
        signed += numberIn(reply.signed)
        unsigned += numberIn(reply.unsigned)
        from = reply.next ?? undefined
      } while (from !== undefined)
      terminal.print(
        `${checked} records checked, ${signed} days signed, ${unsigned} days without a signature.`,
      )
      if (faults > 0) terminal.complain(`The audit log is not as it was written: ${faults} faults.`)
      return faults > 0 ? 1 : 0
    })
  },
})
