import type { FieldRecord } from '../../../shared/api/blueprint-fields.ts'
import { queryClient } from '../../api/query-client.ts'
import { call } from '../../api/request.ts'
import { confirm } from '../../controls/confirm.ts'

export function askToRemoveField({ _meta, name }: FieldRecord): void {
  confirm({
    title: `Remove the rules of ${name}?`,
    text: 'Documents keep their values. New values of the field are no longer checked.',
    action: 'Remove',
    run: async () => {
      await call('DELETE', `/blueprintfields/${_meta.guid}`)
      await queryClient.invalidateQueries({ queryKey: ['fields'] })
    },
  })
}
