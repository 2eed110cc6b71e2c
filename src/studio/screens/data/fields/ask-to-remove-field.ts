import type { CheckedField, FieldRecord } from '../../../../shared/api/blueprints/blueprint-fields.ts'
import { queryClient } from '../../../api/query-client.ts'
import { call } from '../../../api/request.ts'
import { confirm } from '../../../controls/confirm.ts'
import { notifyFailed } from '../../../controls/notify.ts'
import { fieldsTexts } from '../../../texts/fields.ts'

/** Says first how many documents have a value. */
export function askToRemoveField(field: FieldRecord): void {
  call<CheckedField>('POST', `/blueprintfields/${field._meta.guid}/check`).then(
    ({ documents }) => ask(field, documents),
    (failed) => notifyFailed(fieldsTexts.couldNotCheck, failed),
  )
}

function ask({ _meta, name }: FieldRecord, documents: number): void {
  confirm({
    title: fieldsTexts.removeTheRulesOf(name),
    text: fieldsTexts.removeRulesText(documents),
    action: fieldsTexts.remove,
    run: async () => {
      await call('DELETE', `/blueprintfields/${_meta.guid}`)
      await queryClient.invalidateQueries({ queryKey: ['fields'] })
    },
  })
}
