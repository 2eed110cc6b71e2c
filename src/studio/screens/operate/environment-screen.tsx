import { Button, Code, Text } from '@mantine/core'
import type { EnvironmentValue } from '../../../shared/api/environment.ts'
import { findEnvironmentValues, removeEnvironmentValue } from '../../api/environment.ts'
import { confirm } from '../../controls/confirm.ts'
import { EmptyState } from '../../controls/empty-state.tsx'
import { Icon } from '../../controls/icon.tsx'
import { shortJson } from '../../controls/json/json-text.ts'
import type { Column } from '../../controls/lists/column.ts'
import { useListAddress } from '../../controls/lists/list-address.ts'
import { RecordTable } from '../../controls/lists/record-table.tsx'
import { openAddress } from '../../controls/open-address.ts'
import { RemoveAction } from '../../controls/remove-action.tsx'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { Time } from '../../controls/time.tsx'
import { useOpened } from '../../controls/use-opened.ts'
import { EnvironmentDialog } from './environment-dialog.tsx'

const columns: readonly Column<EnvironmentValue>[] = [
  {
    id: 'name',
    label: 'Name',
    sort: 'name',
    render: ({ name, description }) => (
      <>
        {name}
        <Text size="xs" c="dimmed" fw={400}>
          {description}
        </Text>
      </>
    ),
  },
  { id: 'value', label: 'Value', render: ({ value }) => <Code>{shortJson(value, 90)}</Code> },
  {
    id: 'changed',
    label: 'Changed',
    sort: '_meta.updated',
    width: 220,
    render: ({ _meta, modified_by }) => (
      <>
        <Time at={_meta.updated} /> by {modified_by.username}
      </>
    ),
  },
  {
    id: 'remove',
    label: '',
    width: 48,
    render: (value) => <RemoveAction label={`Remove ${value.name}`} onClick={() => askToRemove(value)} />,
  },
]

/** Named values of the cluster for expressions. */
export function EnvironmentScreen() {
  const [open, show] = useOpened()
  const [, , words] = useListAddress()
  return (
    <>
      <ScreenHead
        title="Environment"
        about="Named values of this cluster, such as base URLs and limits. Expressions read them as env.NAME."
      >
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => show('new')}>
          New value
        </Button>
      </ScreenHead>
      <RecordTable<EnvironmentValue>
        label="Environment"
        queryKey={['environment', 'list']}
        load={findEnvironmentValues}
        columns={columns}
        keyOf={({ _meta }) => _meta.guid}
        hrefOf={({ _meta }) => openAddress('/operate/environment', words, _meta.guid)}
        empty={
          <EmptyState icon="operate" title="No values">
            <Text size="sm">
              Add a value such as BASE_URL and read it in any expression:{' '}
              <Code>=env.BASE_URL + '/orders'</Code>. A change needs no deploy. Passwords and keys belong
              under Secrets.
            </Text>
          </EmptyState>
        }
      />
      <EnvironmentDialog guid={open} onClose={() => show('')} />
    </>
  )
}

function askToRemove({ _meta, name }: EnvironmentValue): void {
  confirm({
    title: `Remove ${name}?`,
    text: `Expressions that read env.${name} get nothing from then on.`,
    action: 'Remove',
    run: () => removeEnvironmentValue(_meta.guid),
  })
}
