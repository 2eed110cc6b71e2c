import { Alert, Badge, Button, Group, Progress, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import type { PreparationRecord, StorageRecord } from '../../../shared/api/data/storages.ts'
import { countQuery, findStorages, preparationsQuery } from '../../api/storages.ts'
import { useAskedNew } from '../../controls/hooks.ts'
import { Icon } from '../../controls/icon.tsx'
import { SearchField } from '../../controls/lists/filters.tsx'
import { type Column, NameCell, RecordTable } from '../../controls/lists/record-table.tsx'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { EmptyState } from '../../controls/states.tsx'
import { Time } from '../../controls/time.tsx'
import { useShortcut } from '../../shell/shortcuts.ts'
import { dataTexts } from '../../texts/data.ts'
import { StorageDialog } from './storage-dialog.tsx'
import { StorageMenu } from './storage-menu.tsx'

const columns: readonly Column<StorageRecord>[] = [
  {
    id: 'name',
    label: dataTexts.name,
    sort: 'name',
    render: ({ name, description }) => <NameCell name={name} about={description} />,
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

/** Indexes, free text and columns that the database builds for storages with many documents; nothing while there are none. */
function PreparationsNotice() {
  const { data = [] } = useQuery(preparationsQuery)
  if (data.length === 0) return null
  return (
    <Alert color="petrol" variant="light" p="sm" mb="sm" title={dataTexts.preparing}>
      <Text size="sm">{dataTexts.preparingText}</Text>
      <Stack gap={6} mt="xs" component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
        {data.map((one) => (
          <PreparationRow key={`${one.kind} ${one.storage}`} preparation={one} />
        ))}
      </Stack>
    </Alert>
  )
}

function PreparationRow({ preparation }: { readonly preparation: PreparationRecord }) {
  const { storage, kind, done, total } = preparation
  const words = `${dataTexts.preparations[kind]} ${storage}`
  const part = total === 0 ? 0 : Math.min(100, Math.round((done / total) * 100))
  return (
    <Group component="li" gap="sm" wrap="wrap">
      <Text size="sm" flex="1 1 260px">
        {total === 0 ? words : dataTexts.preparedSoFar(words, done.toLocaleString(), total.toLocaleString())}
      </Text>
      <Progress value={part} flex="1 1 160px" aria-label={words} />
    </Group>
  )
}
