import { Badge, Button, Group, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import type { StorageRecord } from '../../../shared/api/data/storages.ts'
import { countQuery, findStorages } from '../../api/storages.ts'
import { Icon } from '../../controls/icon.tsx'
import { SearchField } from '../../controls/lists/filters.tsx'
import { type Column, RecordTable } from '../../controls/lists/record-table.tsx'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { EmptyState } from '../../controls/states.tsx'
import { Time } from '../../controls/time.tsx'
import { useShortcut } from '../../shell/shortcuts.ts'
import { dataTexts } from '../../texts/data.ts'
import { useAskedNew } from '../use-asked-new.ts'
import { PreparationsNotice } from './preparations-notice.tsx'
import { StorageDialog } from './storage-dialog.tsx'
import { StorageMenu } from './storage-menu.tsx'

const columns: readonly Column<StorageRecord>[] = [
  {
    id: 'name',
    label: dataTexts.name,
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
  {
    id: 'count',
    label: dataTexts.documents,
    numeric: true,
    width: 130,
    render: (one) => <Count storage={one} />,
  },
  {
    id: 'history',
    label: dataTexts.history,
    width: 120,
    render: ({ history }) =>
      history ? <Badge color="petrol">{dataTexts.kept}</Badge> : <Badge color="gray">{dataTexts.off}</Badge>,
  },
  {
    id: 'created',
    label: dataTexts.created,
    sort: '_meta.created',
    width: 140,
    render: ({ _meta }) => <Time at={_meta.created} />,
  },
  { id: 'menu', label: '', width: 48, render: (one) => <StorageMenu storage={one} /> },
]

export function StoragesScreen() {
  const [isCreating, create] = useDisclosure(false)
  useAskedNew(create.open)
  useShortcut({ keys: 'n', label: dataTexts.newStorage, group: dataTexts.data }, create.open)
  return (
    <>
      <ScreenHead title={dataTexts.storages} about={dataTexts.storagesAbout}>
        <Button leftSection={<Icon name="plus" size={16} />} onClick={create.open}>
          {dataTexts.newStorage}
        </Button>
      </ScreenHead>
      <PreparationsNotice />
      <Group mb="sm">
        <SearchField label={dataTexts.searchStorages} />
      </Group>
      <RecordTable<StorageRecord>
        label={dataTexts.storages}
        queryKey={['storages', 'list']}
        load={findStorages}
        columns={columns}
        keyOf={({ _meta }) => _meta.guid}
        hrefOf={({ _meta }) => `/data/storages/${_meta.guid}`}
        empty={
          <EmptyState icon="data" title={dataTexts.noStorages}>
            <Text size="sm">{dataTexts.noStoragesText}</Text>
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
