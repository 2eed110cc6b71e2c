import { Alert, Anchor, Button, Code, Group, Stack, Text, Textarea } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import type { Wait } from '../../../../shared/api/operate/waits.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../shared/json.ts'
import { blueprintNamesQuery } from '../../../api/blueprints.ts'
import { cancelWait, continueWait, forgetWaits, readWait } from '../../../api/operate.ts'
import { confirm } from '../../../controls/confirm.ts'
import { Facts } from '../../../controls/facts.tsx'
import { FormDialog } from '../../../controls/form-dialog.tsx'
import { JsonField } from '../../../controls/json/json-field.tsx'
import { notifyDone } from '../../../controls/notify.ts'
import { RecordDrawer } from '../../../controls/record-drawer.tsx'
import { ErrorNotice } from '../../../controls/states.tsx'
import { ScopeBadge } from '../../../controls/tags.tsx'
import { Time } from '../../../controls/time.tsx'
import { waitsTexts } from '../../../texts/alerts.ts'
import { MoveDialog } from './move-dialog.tsx'
import { kindLabels, type WaitWay, waysOf } from './wait-ways.ts'

export function WaitDrawer() {
  return (
    <RecordDrawer<Wait> title={waitsTexts.waitingRun} queryKey={['waits', 'one']} load={readWait}>
      {(wait, close) => <Opened wait={wait} close={close} />}
    </RecordDrawer>
  )
}

function Opened({ wait, close }: { readonly wait: Wait; readonly close: () => void }) {
  const [way, ask] = useState<WaitWay>()
  const [moving, setMoving] = useState(false)
  const ended = async () => {
    close()
    notifyDone(waitsTexts.theRunContinues)
    await forgetWaits()
  }
  return (
    <Stack gap="md">
      <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
        {wait.title}
      </Text>
      <ApprovalDetails details={wait.details} />
      <WaitFacts wait={wait} />
      <Failed wait={wait} onEnded={ended} />
      <Group gap="xs">
        {wait.state === 'waiting'
          ? waysOf[wait.kind]
              .filter(({ way }) => wait.ways.includes(way))
              .map((one, place) => (
                <Button
                  key={one.way}
                  variant={place === 0 ? 'filled' : 'default'}
                  {...(one.color && { color: one.color, variant: 'light' })}
                  onClick={() => ask(one)}
                >
                  {one.label}
                </Button>
              ))
          : null}
        {wait.state === 'waiting' && wait.version === 'same' ? (
          <Button variant="default" onClick={() => setMoving(true)}>
            {waitsTexts.moveRuns}
          </Button>
        ) : null}
        <Button variant="default" onClick={() => askToCancel(wait, close)}>
          {waitsTexts.cancelTheRun}
        </Button>
      </Group>
      <MoveDialog
        blueprint={wait.blueprint}
        wait={wait._meta.guid}
        opened={moving}
        onClose={() => setMoving(false)}
        onMoved={close}
      />
      <ContinueDialog wait={wait} way={way} onClose={() => ask(undefined)} onEnded={ended} />
    </Stack>
  )
}

/** What a person has decided is kept: the run continues with it. */
function Failed({ wait, onEnded }: { readonly wait: Wait; readonly onEnded: () => Promise<void> }) {
  const again = useMutation({
    mutationFn: (version: Wait['version']) => continueWait(wait._meta.guid, { version }),
    onSuccess: onEnded,
  })
  if (wait.error === '') return null
  return (
    <Alert color="red" variant="light" title={waitsTexts.hasFailed}>
      <Stack gap="xs">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {wait.error}
        </Text>
        <Text size="sm">{waitsTexts.decisionIsStored}</Text>
        <ErrorNotice error={again.error} />
        <Group gap="xs">
          <Button loading={again.isPending} onClick={() => again.mutate('current')}>
            {waitsTexts.continueOnDeployed}
          </Button>
          <Button variant="default" loading={again.isPending} onClick={() => again.mutate('same')}>
            {waitsTexts.continueAgain}
          </Button>
        </Group>
      </Stack>
    </Alert>
  )
}

function askToCancel({ _meta, title }: Wait, close: () => void): void {
  confirm({
    title: waitsTexts.cancelThisRun,
    text: waitsTexts.cancelThisRunText(title),
    action: waitsTexts.cancelTheRun,
    run: async () => {
      await cancelWait(_meta.guid)
      close()
      await forgetWaits()
    },
  })
}

interface ContinueDialogProps {
  readonly wait: Wait
  /** Undefined: nothing is asked. */
  readonly way: WaitWay | undefined
  readonly onClose: () => void
  /** The wait has ended. */
  readonly onEnded: () => Promise<void>
}

/** Asks before a wait is ended by hand, and for what comes with the way. */
function ContinueDialog({ way, onClose, ...rest }: ContinueDialogProps) {
  return way === undefined ? null : (
    <ContinueDialogOpened key={way.way} way={way} onClose={onClose} {...rest} />
  )
}

function ContinueDialogOpened({
  wait,
  way,
  onClose,
  onEnded,
}: ContinueDialogProps & { readonly way: WaitWay }) {
  const [comment, setComment] = useState('')
  const [body, setBody] = useState('{}')
  const submit = async () => {
    await continueWait(wait._meta.guid, endOf(way, comment, body))
    await onEnded()
  }
  return (
    <FormDialog opened onClose={onClose} title={wait.title} action={way.label} submit={submit}>
      <Text size="sm">{waitsTexts.forever(way.text)}</Text>
      {way.takes === 'comment' ? (
        <Textarea
          label={waitsTexts.comment}
          description={waitsTexts.commentHelp}
          autosize
          minRows={2}
          maxLength={2_000}
          data-autofocus
          value={comment}
          onChange={(event) => setComment(event.currentTarget.value)}
        />
      ) : null}
      {way.takes === 'body' ? (
        <JsonField
          label={waitsTexts.body}
          description={waitsTexts.bodyHelp}
          value={body}
          onChange={setBody}
        />
      ) : null}
    </FormDialog>
  )
}

/** Throws SyntaxError for a body that is no JSON. */
function endOf({ way, takes }: WaitWay, comment: string, body: string): JsonObject {
  if (takes === 'comment') return { way, comment: comment.trim() }
  return takes === 'body' ? { way, body: JSON.parse(body) } : { way }
}

/** What is known of a wait of any kind. */
function WaitFacts({ wait }: { readonly wait: Wait }) {
  const { kind, state, storage, blueprint, block, until, user, version, job, run, _meta } = wait
  const { data } = useQuery(blueprintNamesQuery)
  return (
    <Facts
      facts={{
        [waitsTexts.waitsFor]: storage === '' ? kindLabels[kind] : waitsTexts.of(kindLabels[kind], storage),
        [waitsTexts.state]: state === 'resumed' ? waitsTexts.resumed : waitsTexts.waiting,
        [waitsTexts.since]: <Time at={_meta.created} exact />,
        [waitsTexts.until]: until === null ? waitsTexts.noTimeLimit : <Time at={until} exact />,
        [waitsTexts.blueprint]: (
          <Anchor component={Link} href={`/blueprints/${blueprint}?block=${block}`} size="sm">
            {data?.get(blueprint) ?? waitsTexts.showItsBlock}
          </Anchor>
        ),
        [waitsTexts.whoMayDecide]: kind === 'approval' ? <Deciders wait={wait} /> : null,
        [waitsTexts.begunFor]: user?.username,
        [waitsTexts.continuesOn]:
          version === 'same' ? waitsTexts.versionBegan : waitsTexts.theDeployedVersion,
        [waitsTexts.job]:
          job === '' ? null : (
            <Anchor component={Link} href={`/operate/queues?open=${job}`} size="sm">
              {waitsTexts.showItsJob}
            </Anchor>
          ),
        [waitsTexts.run]: <Code>{run}</Code>,
        [waitsTexts.guid]: <Code>{_meta.guid}</Code>,
      }}
    />
  )
}

function Deciders({ wait: { scopes, state, _meta } }: { readonly wait: Wait }) {
  if (scopes.length === 0) return waitsTexts.holdersOfItsLink
  return (
    <Group gap={6}>
      {scopes.map((scope) => (
        <ScopeBadge key={scope} scope={scope} />
      ))}
      {state === 'waiting' ? (
        <Anchor href={`/_approvals/${_meta.guid}`} target="_blank" rel="noreferrer" size="sm">
          {waitsTexts.openItsPage}
        </Anchor>
      ) : null}
    </Group>
  )
}

/** Text and fields, as the page of an approval shows them. */
function ApprovalDetails({ details }: { readonly details: JsonValue }) {
  const { text, fields } = isJsonObject(details) ? details : {}
  return (
    <>
      {typeof text === 'string' && text !== '' ? (
        <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {text}
        </Text>
      ) : null}
      {isJsonObject(fields) && Object.keys(fields).length > 0 ? <Facts facts={shown(fields)} /> : null}
    </>
  )
}

function shown(fields: Readonly<Record<string, JsonValue>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )
}
