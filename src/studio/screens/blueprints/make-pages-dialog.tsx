import { TextInput } from '@mantine/core'
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import type { FieldRecord } from '../../../shared/api/blueprints/blueprint-fields.ts'
import { shownName } from '../../../shared/fields/field-names.ts'
import { groupsQuery } from '../../api/account.ts'
import { fieldsQuery, inOrder } from '../../api/storages.ts'
import { FormDialog } from '../../controls/form-dialog.tsx'
import { useDraft } from '../../controls/hooks.ts'
import { blueprintsTexts } from '../../texts/blueprints.ts'
import { type Access, withHolders } from './access/application-access.ts'
import { grantAccess, noGroups, WhoMay } from './access/who-may.tsx'
import { isInput, pagesFile } from './pages-file.ts'

const transfer = () => import('../../api/blueprint-transfer.ts')

interface MakePagesProps {
  readonly opened: boolean
  readonly onClose: () => void
  /** Its name. */
  readonly storage: string
}

/** Makes a blueprint with pages of the storage, activates it, and opens it. */
export function MakePagesDialog({ opened, onClose, storage }: MakePagesProps) {
  const [, go] = useLocation()
  const queries = useQueryClient()
  const { data: fields = [] } = useQuery({ ...fieldsQuery(storage), enabled: opened })
  const { draft, set } = useDraft({ uri: storage, access: undefined as Access | undefined })
  const { data: groups = noGroups } = useQuery({ ...groupsQuery, enabled: opened, retry: false })
  const access = withHolders(storage, draft.access, groups)
  const submit = async () => {
    if (!fields.some(isInput)) throw new Error(blueprintsTexts.addFieldsFirst)
    const names = await namesBehind(queries, fields)
    await grantAccess(storage, access, groups)
    const file = pagesFile({ storage, uri: draft.uri, access, names }, inOrder(fields))
    const { importActive } = await transfer()
    go(`/blueprints/${await importActive(file)}`)
  }
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={blueprintsTexts.makePagesFor(storage)}
      action={blueprintsTexts.makeAndActivate}
      submit={submit}
      fetchAhead={transfer}
    >
      <TextInput
        label={blueprintsTexts.address}
        description={blueprintsTexts.addressHelp(draft.uri)}
        required
        data-autofocus
        value={draft.uri}
        onChange={(event) => set('uri', event.currentTarget.value.replace(/^\/+/, ''))}
      />
      <WhoMay storage={storage} access={access} onChange={(next) => set('access', next)} later />
    </FormDialog>
  )
}

/** By storage: the field that names its documents, which is their first text, as in tables. */
async function namesBehind(queries: QueryClient, fields: readonly FieldRecord[]) {
  const names = new Map<string, string>()
  for (const storage of new Set(fields.map(({ reference }) => reference?.storage))) {
    if (storage === undefined) continue
    const known = inOrder(await queries.fetchQuery(fieldsQuery(storage)))
    const name = shownName(known, storage)
    if (name !== undefined) names.set(storage, name)
  }
  return names
}
