import { Badge, Button, Group, Text } from '@mantine/core'
import type { FieldRecord } from '../../../../shared/api/blueprints/blueprint-fields.ts'
import { search } from '../../../api/request.ts'
import { RemoveAction } from '../../../controls/actions.tsx'
import { useOpened } from '../../../controls/hooks.ts'
import { Icon } from '../../../controls/icon.tsx'
import { SearchField } from '../../../controls/lists/filters.tsx'
import { useListAddress } from '../../../controls/lists/list-address.ts'
import { type Column, RecordTable } from '../../../controls/lists/record-table.tsx'
import { openAddress } from '../../../controls/save-file.ts'
import { ScreenHead } from '../../../controls/screen-head.tsx'
import { EmptyState } from '../../../controls/states.tsx'
import { fieldsTexts } from '../../../texts/fields.ts'
import { askToRemoveField } from './ask-to-remove-field.ts'
import { FieldDialog } from './field-dialog.tsx'
import { storedKindLabel } from './field-kinds.ts'
import { rulesInWords } from './rules-in-words.ts'

const columns: readonly Column<FieldRecord>[] = [
  {
    id: 'name',
    label: fieldsTexts.field,
    sort: 'name',
    render: ({ name }) => <span style={{ fontFamily: 'monospace' }}>{name}</span>,
  },
  {
    id: 'storage',
    label: fieldsTexts.storage,
    sort: 'storage',
    render: ({ storage }) =>
      storage ?? (
        <Text span size="sm" c="dimmed">
          {fieldsTexts.everyStorage}
        </Text>
      ),
  },
  {
    id: 'type',
    label: fieldsTexts.type,
    sort: 'type',
    width: 150,
    render: (field) => <Badge color="gray">{storedKindLabel(field)}</Badge>,
  },
  {
    id: 'required',
    label: fieldsTexts.required,
    width: 110,
    render: ({ required }) => (required ? <Badge color="sand">{fieldsTexts.requiredText}</Badge> : null),
  },
  {
    id: 'rules',
    label: fieldsTexts.rules,
    render: (field) => <Text size="sm">{rulesInWords(field)}</Text>,
  },
  {
    id: 'remove',
    label: '',
    width: 48,
    render: (field) => (
      <RemoveAction
        label={fieldsTexts.removeTheRulesOfText(field.name)}
        onClick={() => askToRemoveField(field)}
      />
    ),
  },
]

/** Rules for fields of documents. Every write is checked. */
export function FieldsScreen() {
  const [open, show] = useOpened()
  const [, , words] = useListAddress()
  return (
    <>
      <ScreenHead title={fieldsTexts.fields} about={fieldsTexts.fieldsAbout}>
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => show('new')}>
          {fieldsTexts.newField}
        </Button>
      </ScreenHead>
      <Group mb="sm">
        <SearchField label={fieldsTexts.searchFields} />
      </Group>
      <RecordTable<FieldRecord>
        label={fieldsTexts.fields}
        queryKey={['fields', 'list']}
        load={(body, signal) => search<FieldRecord>('/blueprintfields/search', body, signal)}
        columns={columns}
        keyOf={({ _meta }) => _meta.guid}
        hrefOf={({ _meta }) => openAddress('/data/fields', words, _meta.guid)}
        empty={
          <EmptyState icon="data" title={fieldsTexts.noFields}>
            <Text size="sm">{fieldsTexts.noFieldsText}</Text>
          </EmptyState>
        }
      />
      <FieldDialog key={open} guid={open} onClose={() => show('')} />
    </>
  )
}
