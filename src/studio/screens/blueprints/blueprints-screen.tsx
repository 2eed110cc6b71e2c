import { Button, Group } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMemo } from 'react'
import type { Blueprint } from '../../../shared/api/blueprints.ts'
import { search } from '../../api/request.ts'
import { Icon } from '../../controls/icon.tsx'
import type { Column } from '../../controls/lists/column.ts'
import { useListAddress } from '../../controls/lists/list-address.ts'
import { RecordTable } from '../../controls/lists/record-table.tsx'
import { SearchField } from '../../controls/lists/search-field.tsx'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { Time } from '../../controls/time.tsx'
import { useCommands } from '../../shell/commands.ts'
import { useShortcut } from '../../shell/shortcuts.ts'
import { BlueprintEndpoints } from './blueprint-endpoints.tsx'
import { BlueprintMenu } from './blueprint-menu.tsx'
import { BlueprintName } from './blueprint-name.tsx'
import { BlueprintState } from './blueprint-state.tsx'
import { CreateBlueprintDialog } from './create-blueprint-dialog.tsx'
import { ImportBlueprintDialog } from './import-blueprint-dialog.tsx'
import { NoBlueprints } from './no-blueprints.tsx'

const columns: readonly Column<Blueprint>[] = [
  {
    id: 'name',
    label: 'Name',
    sort: 'name',
    width: '26%',
    render: (one) => <BlueprintName blueprint={one} />,
  },
  {
    id: 'state',
    label: 'State',
    sort: 'active',
    width: '22%',
    render: (one) => <BlueprintState blueprint={one} />,
  },
  {
    id: 'endpoints',
    label: 'Endpoints and pages, as seen by this node',
    render: (one) => <BlueprintEndpoints blueprint={one} />,
  },
  {
    id: 'changed',
    label: 'Changed',
    sort: '_meta.updated',
    width: 120,
    render: (one) => <Time at={one._meta.updated} />,
  },
  { id: 'menu', label: '', width: 48, render: (one) => <BlueprintMenu blueprint={one} /> },
]

export function BlueprintsScreen() {
  const [{ query }] = useListAddress()
  const [isCreating, create] = useDisclosure(false)
  const [isImporting, take] = useDisclosure(false)
  useShortcut({ keys: 'n', label: 'New blueprint', group: 'Blueprints' }, create.open)
  useCommands(
    useMemo(
      () => [
        { id: 'new blueprint', label: 'New blueprint', group: 'Blueprints', run: create.open },
        { id: 'import blueprint', label: 'Import a blueprint', group: 'Blueprints', run: take.open },
      ],
      [create.open, take.open],
    ),
  )
  const empty = useMemo(() => <NoBlueprints query={query} onCreate={create.open} />, [query, create.open])
  return (
    <>
      <ScreenHead
        title="Blueprints"
        about="Flows of blocks: endpoints, jobs and pages. Open one to build; activate it to go live."
      >
        <Button variant="default" leftSection={<Icon name="upload" size={16} />} onClick={take.open}>
          Import
        </Button>
        <Button leftSection={<Icon name="plus" size={16} />} onClick={create.open}>
          New blueprint
        </Button>
      </ScreenHead>
      <Group mb="sm">
        <SearchField label="Search blueprints" />
      </Group>
      <RecordTable<Blueprint>
        label="Blueprints"
        queryKey={['blueprints', 'list']}
        load={(body, signal) => search<Blueprint>('/blueprints/search', body, signal)}
        columns={columns}
        keyOf={({ _meta }) => _meta.guid}
        hrefOf={({ _meta }) => `/blueprints/${_meta.guid}`}
        empty={empty}
        limit={25}
        minWidth={900}
      />
      <CreateBlueprintDialog opened={isCreating} onClose={create.close} />
      <ImportBlueprintDialog opened={isImporting} onClose={take.close} />
    </>
  )
}
