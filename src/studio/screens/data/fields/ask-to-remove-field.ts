import type { FieldRecord } from '../../../../shared/api/blueprints/blueprint-fields.ts'
import { queryClient } from '../../../api/query-client.ts'
import { call } from '../../../api/request.ts'
import { confirm } from '../../../controls/confirm.ts'
import { fieldsTexts } from '../../../texts/fields.ts'

export function askToRemoveField({ _meta, name }: FieldRecord): void {
  confirm({
    title: fieldsTexts.removeTheRulesOf(name),
    text: fieldsTexts.removeRulesText,
    action: fieldsTexts.remove,
    run: async () => {
      await call('DELETE', `/blueprintfields/${_meta.guid}`)
      await queryClient.invalidateQueries({ queryKey: ['fields'] })
    },
  })
}
