import {
  Alert,
  Badge,
  Button,
  Code,
  CopyButton,
  Group,
  Modal,
  NumberInput,
  Progress,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { CreatedSpace, SpaceQuotas, SpaceRecord } from '../../../shared/api/operate/spaces.ts'
import { infoQuery, spaces } from '../../api/operate.ts'
import { CopyAction } from '../../controls/actions.tsx'
import { bytes } from '../../controls/amounts.ts'
import { confirm } from '../../controls/confirm.ts'
import { Facts } from '../../controls/facts.tsx'
import { useFieldError } from '../../controls/field-errors.tsx'
import { FormDialog } from '../../controls/form-dialog.tsx'
import { useDraft, useOpened } from '../../controls/hooks.ts'
import { Icon } from '../../controls/icon.tsx'
import { SearchField } from '../../controls/lists/filters.tsx'
import { useListAddress } from '../../controls/lists/list-address.ts'
import { type Column, NameCell, RecordTable } from '../../controls/lists/record-table.tsx'
import { notifyDone, notifyFailed } from '../../controls/notify.ts'
import { RecordDrawer } from '../../controls/record-drawer.tsx'
import { openAddress } from '../../controls/save-file.ts'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { EmptyState, ErrorNotice } from '../../controls/states.tsx'
import { Time } from '../../controls/time.tsx'
import { spaceTexts } from '../../texts/settings.ts'

const colours = { active: 'green', suspended: 'sand', creating: 'gray', removing: 'red' } as const

const columns: readonly Column<SpaceRecord>[] = [
  {
    id: 'name',
    label: spaceTexts.name,
    sort: 'name',
    render: ({ name, title }) => <NameCell name={name} about={title} />,
  },
  { id: 'hosts', label: spaceTexts.hosts, render: ({ hosts }) => <Hosts hosts={hosts} /> },
  {
    id: 'state',
    label: spaceTexts.state,
    sort: 'state',
    width: 140,
    render: (space) => <State {...space} />,
  },
  {
    id: 'made',
    label: spaceTexts.made,
    sort: '_meta.created',
    width: 130,
    render: ({ _meta }) => <Time at={_meta.created} />,
  },
]

/** Spaces of the cluster, for its operator: what is in one is not seen here, and there are none in a space. */
export function SpacesScreen() {
  const { data: info } = useQuery(infoQuery)
  if (info?.flags.space !== true) return <SpaceList />
  return (
    <>
      <ScreenHead title={spaceTexts.spaces} />
      <EmptyState icon="operate" title={spaceTexts.notHere}>
        <Text size="sm">{spaceTexts.notHereText}</Text>
      </EmptyState>
    </>
  )
}

function SpaceList() {
  const [open, show] = useOpened()
  const [, , words] = useListAddress()
  const [made, setMade] = useState<CreatedSpace>()
  return (
    <>
      <ScreenHead title={spaceTexts.spaces} about={spaceTexts.about}>
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => show('new')}>
          {spaceTexts.newSpace}
        </Button>
      </ScreenHead>
      <Group mb="sm">
        <SearchField label={spaceTexts.search} />
      </Group>
      <RecordTable<SpaceRecord>
        label={spaceTexts.spaces}
        queryKey={['spaces', 'list']}
        load={spaces.find}
        columns={columns}
        keyOf={({ _meta }) => _meta.guid}
        hrefOf={({ _meta }) => openAddress('/operate/spaces', words, _meta.guid)}
        empty={
          <EmptyState icon="operate" title={spaceTexts.none}>
            <Text size="sm">{spaceTexts.noneText}</Text>
          </EmptyState>
        }
      />
      {open === 'new' ? (
        <SpaceForm onClose={() => show('')} onMade={setMade} />
      ) : (
        <RecordDrawer<SpaceRecord> title={spaceTexts.space} queryKey={['spaces', 'one']} load={spaces.read}>
          {(space, close) => <Opened space={space} close={close} />}
        </RecordDrawer>
      )}
      <Made made={made} onClose={() => setMade(undefined)} />
    </>
  )
}

function Hosts({ hosts }: Pick<SpaceRecord, 'hosts'>) {
  return (
    <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
      {hosts.join(', ')}
    </Text>
  )
}

function State({ state, open }: SpaceRecord) {
  return (
    <Group gap={6}>
      <Badge color={colours[state]}>{spaceTexts.states[state]}</Badge>
      {open ? <Badge color="gray">{spaceTexts.open}</Badge> : null}
    </Group>
  )
}

function Opened({ space, close }: { readonly space: SpaceRecord; readonly close: () => void }) {
  const [changing, setChanging] = useState(false)
  const { name, title, hosts, state, _meta, created_by } = space
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <Text fw={600}>{name}</Text>
        <State {...space} />
      </Group>
      <Facts
        facts={{
          [spaceTexts.title]: title,
          [spaceTexts.hosts]: <Hosts hosts={hosts} />,
          [spaceTexts.made]: (
            <>
              <Time at={_meta.created} /> {spaceTexts.by(created_by.username)}
            </>
          ),
        }}
      />
      {state === 'active' ? <Usage space={space} /> : <Text size="sm">{spaceTexts.stateText[state]}</Text>}
      {state === 'active' || state === 'suspended' ? (
        <Group gap="xs">
          <Button variant="default" onClick={() => setChanging(true)}>
            {spaceTexts.change}
          </Button>
          <Button variant="default" onClick={() => askToSuspend(space)}>
            {state === 'active' ? spaceTexts.suspend : spaceTexts.resume}
          </Button>
          {state === 'active' ? (
            <Button variant="default" onClick={() => void backUp(space)}>
              {spaceTexts.backUp}
            </Button>
          ) : null}
          <Button color="red" variant="light" onClick={() => askToDelete(space, close)}>
            {spaceTexts.delete}
          </Button>
        </Group>
      ) : null}
      {changing ? <SpaceForm space={space} onClose={() => setChanging(false)} /> : null}
    </Stack>
  )
}

/** Names of quotas, in what they are counted, and their names in what is used. */
const counted = [
  { quota: 'documents', use: 'documents', shown: (count: number) => count.toLocaleString() },
  { quota: 'bytes', use: 'bytes', shown: bytes },
  { quota: 'runs_a_minute', use: 'runs', shown: (count: number) => count.toLocaleString() },
  { quota: 'jobs', use: 'jobs', shown: (count: number) => count.toLocaleString() },
] as const

/** What is used of the quotas. The server opens the space for it. */
function Usage({ space: { _meta, quotas } }: { readonly space: SpaceRecord }) {
  const { data, error, refetch } = useQuery(spaces.usage(_meta.guid))
  if (error) return <ErrorNotice error={error} title={spaceTexts.couldNotCount} onRetry={refetch} />
  return (
    <Stack gap="xs" role="group" aria-label={spaceTexts.usage} aria-busy={data === undefined}>
      {counted.map(({ quota, use, shown }) => {
        const used = data?.[use]
        const most = quotas[quota]
        const label = spaceTexts.quotas[quota]
        const share = used === undefined || most === 0 ? 0 : Math.min(100, (used / most) * 100)
        return (
          <div key={quota}>
            <Group justify="space-between" gap="xs">
              <Text size="sm">{label}</Text>
              <Text size="sm" c="dimmed" className="numbers">
                {used === undefined
                  ? spaceTexts.counting
                  : most === 0
                    ? spaceTexts.noLimit(shown(used))
                    : spaceTexts.usedOf(shown(used), shown(most))}
              </Text>
            </Group>
            {most === 0 ? null : (
              <Progress value={share} color={share >= 90 ? 'red' : 'petrol'} aria-label={label} />
            )}
          </div>
        )
      })}
    </Stack>
  )
}

interface SpaceFormProps {
  /** None: a new one. */
  readonly space?: SpaceRecord
  readonly onClose: () => void
  readonly onMade?: (made: CreatedSpace) => void
}

function SpaceForm({ space, onClose, onMade }: SpaceFormProps) {
  const { draft, shown, set } = useDraft(draftOf(space))
  const { quotas } = draft
  const submit = async () => {
    const email = draft.email.trim()
    if (space)
      await spaces.save(space._meta.guid, fieldsOf(draft), fieldsOf(shown), (stored) =>
        fieldsOf(draftOf(stored)),
      )
    else
      onMade?.(
        await spaces.create({ name: draft.name.trim(), ...fieldsOf(draft), ...(email !== '' && { email }) }),
      )
  }
  return (
    <FormDialog
      opened
      onClose={onClose}
      title={space ? space.name : spaceTexts.newSpace}
      action={space ? spaceTexts.save : spaceTexts.create}
      submit={submit}
    >
      <PlaceFields draft={draft} set={set} isNew={space === undefined} />
      {counted.map(({ quota }) => (
        <NumberInput
          key={quota}
          label={spaceTexts.most[quota]}
          placeholder={spaceTexts.unlimited}
          min={0}
          allowDecimal={false}
          thousandSeparator=" "
          value={quotas[quota] || ''}
          onChange={(value) => set('quotas', { ...quotas, [quota]: Number(value) })}
        />
      ))}
    </FormDialog>
  )
}

function draftOf(space: SpaceRecord | undefined) {
  const quotas: Partial<SpaceQuotas> = space?.quotas ?? {}
  return { name: '', title: space?.title ?? '', hosts: space?.hosts.join('\n') ?? '', email: '', quotas }
}

function fieldsOf({ title, hosts, quotas }: ReturnType<typeof draftOf>) {
  const names = hosts.toLowerCase().split(/[\s,]+/)
  return { title: title.trim(), hosts: names.filter((host) => host !== ''), quotas }
}

interface PlaceDraft {
  readonly name: string
  readonly title: string
  readonly hosts: string
  readonly email: string
}

interface PlaceFieldsProps {
  readonly draft: PlaceDraft
  readonly set: (name: Exclude<keyof PlaceDraft, 'quotas'>, value: string) => void
  readonly isNew: boolean
}

/** What it is called, where it is reached, and who is its first user. */
function PlaceFields({ draft, set, isNew }: PlaceFieldsProps) {
  const fieldError = useFieldError()
  return (
    <>
      {isNew ? (
        <TextInput
          label={spaceTexts.name}
          description={spaceTexts.nameHelp}
          required
          value={draft.name}
          error={fieldError('name')}
          onChange={(event) => set('name', event.currentTarget.value)}
        />
      ) : null}
      <Textarea
        label={spaceTexts.hosts}
        description={spaceTexts.hostsHelp}
        required
        autosize
        value={draft.hosts}
        error={fieldError('hosts')}
        onChange={(event) => set('hosts', event.currentTarget.value)}
      />
      <TextInput
        label={spaceTexts.title}
        description={spaceTexts.titleHelp}
        value={draft.title}
        error={fieldError('title')}
        onChange={(event) => set('title', event.currentTarget.value)}
      />
      {isNew ? (
        <TextInput
          type="email"
          label={spaceTexts.email}
          description={spaceTexts.emailHelp}
          value={draft.email}
          error={fieldError('email')}
          onChange={(event) => set('email', event.currentTarget.value)}
        />
      ) : null}
    </>
  )
}

interface MadeProps {
  readonly made: CreatedSpace | undefined
  readonly onClose: () => void
}

/** How its administrator gets in. It closes with its button only: a click beside it must not lose the password. */
function Made({ made, onClose }: MadeProps) {
  const { username = '', password = null } = made?.administrator ?? {}
  return (
    <Modal
      opened={made !== undefined}
      onClose={onClose}
      title={spaceTexts.madeTitle(made?.space.name ?? '')}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack gap="md">
        {password === null ? (
          <Text size="sm">{spaceTexts.invited(username)}</Text>
        ) : (
          <>
            <Alert color="sand" title={spaceTexts.shownOnce}>
              {spaceTexts.passwordOf(username)}
            </Alert>
            <Group gap="xs" wrap="nowrap">
              <Code block flex={1} aria-label={spaceTexts.password}>
                {password}
              </Code>
              <CopyButton value={password}>{(copying) => <CopyAction {...copying} />}</CopyButton>
            </Group>
          </>
        )}
        <Group justify="flex-end">
          <Button onClick={onClose}>{spaceTexts.done}</Button>
        </Group>
      </Stack>
    </Modal>
  )
}

function askToSuspend({ _meta, name, state }: SpaceRecord): void {
  const suspended = state === 'active'
  confirm({
    title: suspended ? spaceTexts.suspendTitle(name) : spaceTexts.resumeTitle(name),
    text: suspended ? spaceTexts.suspendText : spaceTexts.resumeText,
    action: suspended ? spaceTexts.suspend : spaceTexts.resume,
    ...(!suspended && { isHarmless: true }),
    run: () => spaces.suspend(_meta.guid, suspended),
  })
}

function askToDelete({ _meta, name }: SpaceRecord, close: () => void): void {
  confirm({
    title: spaceTexts.deleteTitle(name),
    text: spaceTexts.deleteText,
    action: spaceTexts.delete,
    type: name,
    run: async () => {
      await spaces.remove(_meta.guid, name)
      close()
    },
  })
}

async function backUp({ _meta }: SpaceRecord): Promise<void> {
  try {
    notifyDone(spaceTexts.backedUp((await spaces.backup(_meta.guid)).folder))
  } catch (error) {
    notifyFailed(spaceTexts.couldNotBackUp, error)
  }
}
