import { Badge, Button, Group, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import type { StorageRecord } from '../../../shared/api/storages.ts'
import { countQuery, findStorages } from '../../api/storages.ts'
import { EmptyState } from '../../controls/empty-state.tsx'
import { Icon } from '../../controls/icon.tsx'
import type { Column } from '../../controls/lists/column.ts'
import { RecordTable } from '../../controls/lists/record-table.tsx'
import { SearchField } from '../../controls/lists/search-field.tsx'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { Time } from '../../controls/time.tsx'
import { useShortcut } from '../../shell/shortcuts.ts'
import { StorageDialog } from './storage-dialog.tsx'
import { StorageMenu } from './storage-menu.tsx'

const columns: readonly Column<StorageRecord>[] = [
  {
    id: 'name',
    label: 'Name',
    sort: 'name',
    render: ({ name, description }) => (
      <>
        {name}
        {description === '' ? null : (
          <Text size="xs" c="dimmed" fw={400} lineClamp={1}>
            {description}
          </Text>
        )}
      </>
    ),
  },
  { id: 'count', label: 'Documents', numeric: true, width: 130, render: (one) => <Count storage={one} /> },
  {
    id: 'history',
    label: 'History',
    width: 120,
    render: ({ history }) => (history ? <Badge color="petrol">kept</Badge> : <Badge color="gray">off</Badge>),
  },
  {
    id: 'created',
    label: 'Created',
    sort: '_meta.created',
    width: 140,
    render: ({ _meta }) => <Time at={_meta.created} />,
  },
  { id: 'menu', label: '', width: 48, render: (one) => <StorageMenu storage={one} /> },
]

export function StoragesScreen() {
  const [isCreating, create] = useDisclosure(false)
  useShortcut({ keys: 'n', label: 'New storage', group: 'Data' }, create.open)
  return (
    <>
      <ScreenHead title="Storages" about="Collections of documents. Blocks read and write them by name.">
        <Button leftSection={<Icon name="plus" size={16} />} onClick={create.open}>
          New storage
        </Button>
      </ScreenHead>
      <Group mb="sm">
        <SearchField label="Search storages" />
      </Group>
      <RecordTable<StorageRecord>
        label="Storages"
        queryKey={['storages', 'list']}
        load={findStorages}
        columns={columns}
        keyOf={({ _meta }) => _meta.guid}
        hrefOf={({ _meta }) => `/data/storages/${_meta.guid}`}
        empty={
          <EmptyState icon="data" title="No storages">
            <Text size="sm">Create a storage here, or activate a blueprint with a block that names it.</Text>
          </EmptyState>
        }
      />
      <StorageDialog opened={isCreating} onClose={create.close} />
    </>
  )
}

function Count({ storage }: { readonly storage: StorageRecord }) {
  const { data } = useQuery(countQuery(storage._meta.guid))
  return <>{data?.count.toLocaleString() ?? ' '}</>
}
