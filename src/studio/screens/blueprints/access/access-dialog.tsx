import { Alert, Anchor, Badge, Group, Input, Loader, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import type { BlockRecord } from '../../../../shared/api/blueprints/blueprint-actions.ts'
import { groupsQuery } from '../../../api/account.ts'
import { blueprintNamesQuery, forgetBlueprints } from '../../../api/blueprints.ts'
import { call, search } from '../../../api/request.ts'
import { saveChanges } from '../../../api/save-changes.ts'
import { FormDialog } from '../../../controls/form-dialog.tsx'
import { stayOpen } from '../../../controls/hooks.ts'
import { ErrorNotice } from '../../../controls/states.tsx'
import { PathText } from '../../../controls/tags.tsx'
import { blueprintsTexts } from '../../../texts/blueprints.ts'
import { type Access, accessOf, scopesOf } from './application-access.ts'
import {
  type ApplicationTrigger,
  askedOf,
  changesFor,
  type TriggerChange,
  triggersOf,
} from './application-triggers.ts'
import { grantAccess, noGroups, WhoMay } from './who-may.tsx'

interface AccessDialogProps {
  readonly opened: boolean
  readonly onClose: () => void
  /** Its name. */
  readonly storage: string
}

/** The one place that sets which users may use a storage through its pages and its API, in all blueprints. */
export function AccessDialog({ opened, onClose, storage }: AccessDialogProps) {
  const found = useQuery({
    queryKey: ['blueprints', 'triggers', storage],
    queryFn: ({ signal }) => findTriggers(storage, signal),
    enabled: opened,
  })
  const { data: groups = noGroups } = useQuery({ ...groupsQuery, enabled: opened, retry: false })
  const [chosen, choose] = useState<Access>()
  const [changed, setChanged] = useState<readonly string[]>([])
  const triggers = found.data ?? []
  const held = groups.map(({ _meta, scopes }) => ({ guid: _meta.guid, scopes }))
  const access = chosen ?? accessOf(storage, askedBy(triggers), held)
  const differing = changesFor(triggers, scopesOf(storage, access))
  // Before a choice nothing changes, also where they ask for different users now.
  const changes = chosen === undefined ? [] : differing
  const submit = async () => {
    await grantAccess(storage, access, groups)
    const blueprints = await stageChanges(changes)
    if (blueprints.length === 0) return undefined
    setChanged(blueprints)
    choose(undefined)
    return stayOpen
  }
  return (
    <FormDialog
      opened={opened}
      onClose={() => {
        setChanged([])
        choose(undefined)
        onClose()
      }}
      title={blueprintsTexts.whoMayUse(storage)}
      action={blueprintsTexts.save}
      submit={submit}
      size="lg"
    >
      {found.error ? <ErrorNotice error={found.error} /> : null}
      {found.isLoading ? <Loader size="sm" /> : null}
      {changed.length > 0 ? <NotDeployed blueprints={changed} /> : null}
      {found.data?.length === 0 ? (
        <Text size="sm">{blueprintsTexts.noTriggers(storage)}</Text>
      ) : (
        <WhoMay
          storage={storage}
          access={access}
          onChange={choose}
          everyoneWrites={access.writers === 'public' || triggers.some(({ path }) => path.includes('/api/'))}
        />
      )}
      {chosen === undefined && differing.length > 0 ? (
        <Text size="xs" c="dimmed">
          {blueprintsTexts.differingAccess}
        </Text>
      ) : null}
      {triggers.length > 0 ? <Triggers triggers={triggers} changes={changes} /> : null}
    </FormDialog>
  )
}

/** Gives the blueprints that have to be deployed for it. */
async function stageChanges(changes: readonly TriggerChange[]): Promise<readonly string[]> {
  for (const { trigger, content } of changes)
    await saveChanges<BlockRecord>(`/blueprintactions/${trigger.block._meta.guid}`, content, trigger.block, {
      // What is staged counts: the change is staged over it.
      shownOf: presentBlock,
    })
  await forgetBlueprints()
  return [...new Set(changes.map(({ trigger }) => trigger.block.blueprint_guid))]
}

function NotDeployed({ blueprints }: { readonly blueprints: readonly string[] }) {
  const { data: names } = useQuery(blueprintNamesQuery)
  return (
    <Alert color="sand" title={blueprintsTexts.accessNotDeployed}>
      <Group gap="sm">
        {blueprints.map((guid) => (
          <Anchor key={guid} component={Link} href={`/blueprints/${guid}`} size="sm">
            {names?.get(guid) ?? guid}
          </Anchor>
        ))}
      </Group>
    </Alert>
  )
}

interface TriggersProps {
  readonly triggers: readonly ApplicationTrigger[]
  readonly changes: readonly TriggerChange[]
}

const colours = { narrower: 'petrol', wider: 'sand', other: 'gray' } as const

/** Each page and endpoint that the choice is about, and how its access changes at the next deploy. */
function Triggers({ triggers, changes }: TriggersProps) {
  return (
    <Stack gap={6}>
      <Input.Label labelElement="div">{blueprintsTexts.pagesAndEndpoints}</Input.Label>
      {changes.length > 0 ? (
        <Text size="xs" c="dimmed">
          {blueprintsTexts.atNextDeploy}
        </Text>
      ) : null}
      <Table aria-label={blueprintsTexts.pagesAndEndpoints}>
        <Table.Tbody>
          {triggers.map((trigger) => {
            const change = changes.find((one) => one.trigger === trigger)?.change
            return (
              <Table.Tr key={trigger.block._meta.guid}>
                <Table.Td>
                  <PathText>{trigger.path}</PathText>
                </Table.Td>
                <Table.Td>
                  {trigger.writes || askedOf(trigger).write ? blueprintsTexts.writes : blueprintsTexts.reads}
                </Table.Td>
                <Table.Td>
                  {change === undefined ? null : (
                    <Badge color={colours[change]} miw="max-content">
                      {blueprintsTexts.accessChange[change]}
                    </Badge>
                  )}
                </Table.Td>
              </Table.Tr>
            )
          })}
        </Table.Tbody>
      </Table>
    </Stack>
  )
}

function askedBy(triggers: readonly ApplicationTrigger[]) {
  const asked = triggers.map(askedOf)
  return {
    read: asked.flatMap(({ read }) => (read === undefined ? [] : [read])),
    write: asked.flatMap(({ write }) => (write === undefined ? [] : [write])),
  }
}

function presentBlock({ unsaved, ...block }: BlockRecord) {
  return { ...block, ...unsaved }
}

/** Of all blueprints that name the storage, as they are in the editor. */
async function findTriggers(storage: string, signal: AbortSignal): Promise<readonly ApplicationTrigger[]> {
  const body = { filters: { storages: storage }, limit: 1000 }
  const { records } = await search<BlockRecord>('/blueprintactions/search', body, signal)
  const triggers: ApplicationTrigger[] = []
  for (const blueprint of new Set(records.map((record) => record.blueprint_guid))) {
    const blocks = await call<BlockRecord[]>('GET', `/blueprints/${blueprint}/blocks`, { signal })
    const present = blocks.filter(({ unsaved }) => unsaved?.change !== 'removed')
    triggers.push(...triggersOf(present.map(presentBlock), storage))
  }
  return triggers
}
