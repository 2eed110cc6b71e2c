import { Button, Group } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMemo } from 'react'
import type { Blueprint } from '../../../shared/api/blueprints/blueprints.ts'
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
import { blueprintsTexts } from '../../texts/blueprints.ts'
import { useAskedNew } from '../use-asked-new.ts'
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
    label: blueprintsTexts.name,
    sort: 'name',
    width: '26%',
    render: (one) => <BlueprintName blueprint={one} />,
  },
  {
    id: 'state',
    label: blueprintsTexts.state,
    sort: 'active',
    width: 150,
    render: (one) => <BlueprintState blueprint={one} />,
  },
  {
    id: 'endpoints',
    label: blueprintsTexts.endpointsColumn,
    render: (one) => <BlueprintEndpoints blueprint={one} />,
  },
  {
    id: 'changed',
    label: blueprintsTexts.changed,
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
  useAskedNew(create.open)
  useShortcut(
    { keys: 'n', label: blueprintsTexts.newBlueprint, group: blueprintsTexts.blueprints },
    create.open,
  )
  useCommands(
    useMemo(
      () => [
        {
          id: 'new blueprint',
          label: blueprintsTexts.newBlueprint,
          group: blueprintsTexts.blueprints,
          run: create.open,
        },
        {
          id: 'import blueprint',
          label: blueprintsTexts.importABlueprint,
          group: blueprintsTexts.blueprints,
          run: take.open,
        },
      ],
      [create.open, take.open],
    ),
  )
  const empty = useMemo(() => <NoBlueprints query={query} onCreate={create.open} />, [query, create.open])
  return (
    <>
      <ScreenHead title={blueprintsTexts.blueprints} about={blueprintsTexts.blueprintsAbout}>
        <Button variant="default" leftSection={<Icon name="upload" size={16} />} onClick={take.open}>
          {blueprintsTexts.import}
        </Button>
        <Button leftSection={<Icon name="plus" size={16} />} onClick={create.open}>
          {blueprintsTexts.newBlueprint}
        </Button>
      </ScreenHead>
      <Group mb="sm">
        <SearchField label={blueprintsTexts.searchBlueprints} />
      </Group>
      <RecordTable<Blueprint>
        label={blueprintsTexts.blueprints}
        queryKey={['blueprints', 'list']}
        load={(body, signal) => search<Blueprint>('/blueprints/search', body, signal)}
        columns={columns}
        keyOf={({ _meta }) => _meta.guid}
        hrefOf={({ _meta }) => `/blueprints/${_meta.guid}`}
        empty={empty}
        limit={25}
        minWidth={720}
      />
      <CreateBlueprintDialog opened={isCreating} onClose={create.close} />
      <ImportBlueprintDialog opened={isImporting} onClose={take.close} />
    </>
  )
}
