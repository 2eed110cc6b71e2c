import { Anchor, Badge, Button, Group, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { Link, useLocation } from 'wouter'
import type { Blueprint } from '../../../shared/api/blueprints/blueprints.ts'
import { forgetBlueprints, pendingQuery, stagedQuery } from '../../api/blueprints.ts'
import { call, search } from '../../api/request.ts'
import { FormDialog } from '../../controls/form-dialog.tsx'
import { useAskedNew, useDraft } from '../../controls/hooks.ts'
import { Icon } from '../../controls/icon.tsx'
import { SearchField } from '../../controls/lists/filters.tsx'
import { useListAddress } from '../../controls/lists/list-address.ts'
import { type Column, NameCell, RecordTable } from '../../controls/lists/record-table.tsx'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { EmptyState } from '../../controls/states.tsx'
import { Time } from '../../controls/time.tsx'
import { useCommands } from '../../shell/commands.ts'
import { useShortcut } from '../../shell/shortcuts.ts'
import { blueprintsTexts } from '../../texts/blueprints.ts'
import { BlueprintEndpoints } from './blueprint-endpoints.tsx'
import { BlueprintForm, BlueprintMenu, emptyBlueprint } from './blueprint-menu.tsx'
import { ImportBlueprintDialog } from './import-blueprint-dialog.tsx'

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

function BlueprintName({ blueprint }: { readonly blueprint: Blueprint }) {
  const { name, description, category, tags } = blueprint
  return (
    <>
      <NameCell name={name} about={description} />
      {[category, ...tags]
        .filter((word) => word !== '')
        .map((word) => (
          <Badge key={word} size="xs" color="gray" mr={4}>
            {word}
          </Badge>
        ))}
    </>
  )
}

/** What answers requests, and what was built since: saved and not deployed, or only staged, and by whom. */
function BlueprintState({ blueprint }: { readonly blueprint: Blueprint }) {
  const { _meta, active, version } = blueprint
  const { data: staged } = useQuery(stagedQuery)
  const { data: pending } = useQuery({ ...pendingQuery(_meta.guid), enabled: version > 0 })
  const edits = staged?.get(_meta.guid) ?? []
  const people = new Set(edits.map((block) => block.unsaved?.by.username ?? ''))
  const waiting = pending?.length ?? 0
  return (
    <Group gap={4}>
      {active ? (
        <Badge color="green" title={blueprintsTexts.itsEndpointsAreLive}>
          {blueprintsTexts.activeVersion(version)}
        </Badge>
      ) : (
        <Badge color="gray" title={blueprintsTexts.itsEndpointsReply404}>
          {blueprintsTexts.neverDeployed(version)}
        </Badge>
      )}
      {waiting > 0 ? (
        <Badge color="sand" title={blueprintsTexts.notDeployedHelp}>
          {blueprintsTexts.notDeployed(waiting)}
        </Badge>
      ) : null}
      {edits.length > 0 ? (
        <Badge color="violet" title={blueprintsTexts.stagedHelp([...people].join(', '))}>
          {blueprintsTexts.staged(edits.length)}
        </Badge>
      ) : null}
    </Group>
  )
}

interface CreateBlueprintProps {
  readonly opened: boolean
  readonly onClose: () => void
}

/** Makes an empty blueprint and opens it. */
function CreateBlueprintDialog({ opened, onClose }: CreateBlueprintProps) {
  const [, go] = useLocation()
  const { draft, set, saved } = useDraft(emptyBlueprint)
  const submit = async () => {
    const made = await call<Blueprint>('POST', '/blueprints', { body: draft })
    saved(draft)
    await forgetBlueprints()
    go(`/blueprints/${made._meta.guid}`)
  }
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={blueprintsTexts.newBlueprint}
      action={blueprintsTexts.createAndOpen}
      submit={submit}
    >
      <BlueprintForm draft={draft} set={set} />
      <Anchor component={Link} href="/welcome" size="sm">
        {blueprintsTexts.noBlueprintsYetText}
      </Anchor>
    </FormDialog>
  )
}

interface NoBlueprintsProps {
  readonly query: string
  readonly onCreate: () => void
}

function NoBlueprints({ query, onCreate }: NoBlueprintsProps) {
  if (query !== '')
    return (
      <EmptyState icon="search" title={blueprintsTexts.noMatch}>
        <Text size="sm">{blueprintsTexts.noMatchText(query)}</Text>
      </EmptyState>
    )
  return (
    <EmptyState icon="blueprint" title={blueprintsTexts.noBlueprintsYet}>
      <Text size="sm">{blueprintsTexts.noBlueprintsText}</Text>
      <Group gap="xs">
        <Button onClick={onCreate}>{blueprintsTexts.newBlueprint}</Button>
        <Button component={Link} href="/welcome" variant="default">
          {blueprintsTexts.noBlueprintsYetText}
        </Button>
      </Group>
    </EmptyState>
  )
}
