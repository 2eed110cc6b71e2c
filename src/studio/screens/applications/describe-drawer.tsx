import { Alert, Badge, Button, Code, Drawer, Group, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useId, useRef, useState } from 'react'
import { Link } from 'wouter'
import type { DescribeEnd, DescribeLine } from '../../../shared/api/blueprints/drafts.ts'
import {
  applicationsQuery,
  assistantQuery,
  type Described,
  describeNeed,
  removeDraft,
} from '../../api/applications.ts'
import { notifyDone } from '../../controls/notify.ts'
import { ErrorNotice } from '../../controls/states.tsx'
import { applicationsTexts } from '../../texts/applications.ts'
import classes from './release-plan.module.css'
import { StepList } from './release-plan.tsx'
import { stepOf } from './release-steps.ts'

interface DescribeProps {
  readonly opened: boolean
  readonly onClose: () => void
  /** Empty where one is chosen or named. */
  readonly application?: string
}

type Entry = DescribeLine | { readonly asked: string }

/** A model drafts what a person describes. What it says is shown as plain text. */
export function DescribeDrawer({ opened, onClose, application = '' }: DescribeProps) {
  return (
    <Drawer opened={opened} onClose={onClose} title={applicationsTexts.describe} size="lg">
      <Conversation application={application} />
    </Drawer>
  )
}

/** Leaving it cancels what is under way. */
function Conversation({ application }: { readonly application: string }) {
  const { data: assistant } = useQuery(assistantQuery)
  const [entries, setEntries] = useState<readonly Entry[]>([])
  const [error, setError] = useState<unknown>()
  const [working, setWorking] = useState<AbortController>()
  useEffect(() => () => working?.abort(), [working])
  const add = (entry: Entry) => setEntries((all) => [...all, entry])
  const ask = async (name: string, text: string) => {
    const cancel = new AbortController()
    setWorking(cancel)
    setError(undefined)
    add({ asked: text })
    try {
      await describeNeed({ application: name, text, history: historyOf(entries) }, cancel.signal, add)
    } catch (failure) {
      if (cancel.signal.aborted) add({ says: applicationsTexts.describeStopped })
      else setError(failure)
    }
    setWorking(undefined)
  }
  const last = entries.findLast((entry) => 'end' in entry)
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed">
        {applicationsTexts.describeAbout(assistant?.model ?? '')}
      </Text>
      <Said entries={entries} />
      {last && working === undefined ? <Drafted end={last.end} onTakenBack={() => setEntries([])} /> : null}
      <ErrorNotice error={error} />
      <Need
        isWorking={working !== undefined}
        onStop={() => working?.abort()}
        onAsk={(name, text) => void ask(name, text)}
        application={application}
        isFixed={entries.length > 0}
      />
    </Stack>
  )
}

interface NeedProps {
  readonly application: string
  readonly isFixed: boolean
  readonly isWorking: boolean
  readonly onAsk: (name: string, text: string) => void
  readonly onStop: () => void
}

function Need({ application, isFixed, isWorking, onAsk, onStop }: NeedProps) {
  const [name, setName] = useState(application)
  const [text, setText] = useState('')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        // Enter in a field sends the form also where it has no button for it.
        if (isWorking) return
        onAsk(name, text)
        setText('')
      }}
    >
      <Stack gap="sm">
        <ApplicationName name={name} onName={setName} isFixed={isFixed} />
        <Textarea
          label={applicationsTexts.describeText}
          placeholder={applicationsTexts.describeSample}
          required
          autosize
          minRows={3}
          maxRows={10}
          maxLength={10_000}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          data-autofocus
        />
        <Group justify="flex-end" gap="xs">
          {isWorking ? (
            <Button variant="default" onClick={onStop}>
              {applicationsTexts.describeStop}
            </Button>
          ) : (
            <Button type="submit">{applicationsTexts.describeSend}</Button>
          )}
        </Group>
      </Stack>
    </form>
  )
}

interface NameProps {
  readonly name: string
  readonly onName: (name: string) => void
  readonly isFixed: boolean
}

function ApplicationName({ name, onName, isFixed }: NameProps) {
  const { data = [] } = useQuery(applicationsQuery)
  const list = useId()
  return (
    <>
      <TextInput
        label={applicationsTexts.describeApplication}
        description={applicationsTexts.describeApplicationHelp}
        required
        list={list}
        value={name}
        readOnly={isFixed}
        onChange={(event) => onName(event.currentTarget.value)}
      />
      <datalist id={list}>
        {data.map((one) => (
          <option key={one.name} value={one.name} />
        ))}
      </datalist>
    </>
  )
}

/** The newest is in view; a screen reader hears what is added. */
function Said({ entries }: { readonly entries: readonly Entry[] }) {
  const end = useRef<HTMLDivElement>(null)
  const count = entries.length
  useEffect(() => {
    if (count > 0) end.current?.scrollIntoView({ block: 'nearest' })
  }, [count])
  if (count === 0) return null
  return (
    <Stack gap="xs" role="log" aria-label={applicationsTexts.describe}>
      {entries.map((entry, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: entries are only added
        <Line key={at} entry={entry} />
      ))}
      <div ref={end} />
    </Stack>
  )
}

function Line({ entry }: { readonly entry: Entry }) {
  if ('asked' in entry) return <Spoken who={applicationsTexts.describeYou} text={entry.asked} />
  if ('says' in entry) return <Spoken who={applicationsTexts.describeModel} text={entry.says} />
  if ('end' in entry)
    return (
      <Text size="xs" c="dimmed">
        {applicationsTexts.describeCost(entry.end.tokens, entry.end.rounds)}
      </Text>
    )
  return (
    <Group gap="xs" wrap="nowrap" align="baseline">
      <Code>{entry.tool}</Code>
      <Text size="xs" c="dimmed" className={classes.words}>
        {entry.about}
      </Text>
      {entry.refused ? (
        <Badge color="sand" variant="light">
          {applicationsTexts.describeRefused}
        </Badge>
      ) : null}
    </Group>
  )
}

function Spoken({ who, text }: { readonly who: string; readonly text: string }) {
  return (
    <div>
      <Text size="xs" fw={600}>
        {who}
      </Text>
      <Text size="sm" className={classes.words} style={{ whiteSpace: 'pre-wrap' }}>
        {text}
      </Text>
    </div>
  )
}

interface DraftedProps {
  readonly end: DescribeEnd
  readonly onTakenBack: () => void
}

/** What is staged: the changes, the way to the draft, and back. */
function Drafted({ end: { problem, draft }, onTakenBack }: DraftedProps) {
  const takeBack = useMutation({
    mutationFn: removeDraft,
    onSuccess: () => {
      notifyDone(applicationsTexts.takenBack)
      onTakenBack()
    },
  })
  return (
    <Stack gap="sm">
      {problem === '' ? null : (
        <Alert color="sand" variant="light">
          {problem}
        </Alert>
      )}
      {draft === null ? (
        <Text size="sm">{applicationsTexts.describeNothing}</Text>
      ) : (
        <section className={`surface ${classes.panel}`} aria-label={applicationsTexts.changesOfDraft}>
          <StepList steps={draft.changes.map(stepOf)} />
          {draft.problems.length === 0 ? null : (
            <Text size="sm" c="red" mt="xs">
              {applicationsTexts.problemsText}
            </Text>
          )}
          <Group gap="xs" mt="sm">
            <Button component={Link} href={`/blueprints/applications/drafts/${draft.guid}`}>
              {applicationsTexts.readDraft}
            </Button>
            <Button
              variant="default"
              loading={takeBack.isPending}
              onClick={() => takeBack.mutate(draft.guid)}
            >
              {applicationsTexts.takeBack}
            </Button>
          </Group>
          <ErrorNotice error={takeBack.error} title={applicationsTexts.couldNotTakeBack} />
        </section>
      )}
    </Stack>
  )
}

/** What was said before, as the API takes it. */
function historyOf(entries: readonly Entry[]): Described['history'] {
  const said = entries.flatMap((entry): Described['history'] => {
    if ('asked' in entry) return [{ role: 'user', content: entry.asked }]
    return 'says' in entry ? [{ role: 'assistant', content: entry.says }] : []
  })
  return said.slice(-20)
}
