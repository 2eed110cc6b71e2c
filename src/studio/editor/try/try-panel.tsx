import {
  Alert,
  Button,
  Group,
  ScrollArea,
  SegmentedControl,
  Select,
  Stack,
  Switch,
  Text,
  TextInput,
} from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type RefObject, useEffect, useMemo, useRef, useState } from 'react'
import type { BlockContent } from '../../../shared/blueprint.ts'
import { RESOURCE_TYPE } from '../../../shared/resource/resource.ts'
import { fieldsQuery } from '../../api/storages.ts'
import { jsonMistake } from '../../controls/json/json-mistake.ts'
import { PanelHead } from '../../controls/screen-head.tsx'
import { ErrorNotice } from '../../controls/states.tsx'
import { tryTexts } from '../../texts/bar.ts'
import { type Endpoint, endpointsOf, filledUri, signatureCheckOf } from '../model/endpoints.ts'
import { inPinOf } from '../model/flow.ts'
import { handTriggersOf, sampleBody } from '../model/runs/hand-triggers.ts'
import { triggerLabels } from '../model/runs/run-labels.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import type { TriedInput } from '../state/editor-state.ts'
import { leaveRun, showRun } from '../state/shown-run.ts'
import { HandForm, HandRunView } from './hand-form.tsx'
import { ReplyView } from './reply-view.tsx'
import { RequestBody } from './request-body.tsx'
import { RequestFieldInput } from './request-field.tsx'
import { type FormFields, formOf, queryField, withQueryField } from './request-form.ts'
import { type Asked, sendRequest } from './send-request.ts'
import { useHandRun, useTried } from './use-hand-run.ts'

const noValues: Readonly<Record<string, string>> = {}

function Head() {
  const editor = useEditor()
  const close = () => editor.set({ panel: 'properties' })
  return <PanelHead title={tryTexts.tryIt} close={tryTexts.close} onClose={close} />
}

/** Once, when the panel opens: at what has to be filled in, at the query of a GET, or at Send. A focus inside the form stays, and Enter sends. */
function useFirstField(panel: RefObject<HTMLDivElement | null>): void {
  useEffect(() => {
    if (panel.current?.contains(document.activeElement)) return
    panel.current
      ?.querySelector<HTMLElement>(
        'form input[required], form[data-get] input[data-query], form [type=submit]',
      )
      ?.focus()
  }, [panel])
}

/** Runs any trigger of this blueprint: requests go to the endpoints, the rest is run by hand. */
export function TryPanel() {
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const endpoints = useMemo(() => endpointsOf(flow), [flow])
  const others = useMemo(() => handTriggersOf(flow, catalogue), [flow, catalogue])
  const editor = useEditor()
  const chosen = useEditorState((state) => state.triedKey)
  const other =
    others.find(({ block }) => block === chosen) ?? (endpoints.length === 0 ? others[0] : undefined)
  const endpoint = other ? undefined : (endpoints.find((one) => keyOf(one) === chosen) ?? endpoints[0])
  const key = other?.block ?? (endpoint && keyOf(endpoint))
  const panel = useRef<HTMLDivElement>(null)
  useFirstField(panel)
  return (
    <ScrollArea h="100%" type="auto" scrollbarSize={8}>
      <Stack ref={panel} gap="md" p={14} pb={40}>
        <Head />
        {key !== undefined ? (
          <>
            <Select
              size="xs"
              label={tryTexts.whatToRun}
              searchable
              data={[
                {
                  group: tryTexts.endpoints,
                  items: endpoints.map((one) => ({ value: keyOf(one), label: `${one.method} /${one.uri}` })),
                },
                {
                  group: tryTexts.runByHand,
                  items: others.map(({ block, on, title }) => ({
                    value: block,
                    label: title.startsWith(triggerLabels[on]) ? title : `${triggerLabels[on]}: ${title}`,
                  })),
                },
              ].filter(({ items }) => items.length > 0)}
              value={key}
              allowDeselect={false}
              onChange={(next) => editor.set({ triedKey: next ?? '' })}
            />
            {other ? (
              <HandForm key={key} trigger={other} />
            ) : endpoint ? (
              <RequestForm key={key} endpoint={endpoint} tried={key} />
            ) : null}
          </>
        ) : (
          <Text size="sm" c="dimmed">
            {tryTexts.nothingToTry}
          </Text>
        )}
      </Stack>
    </ScrollArea>
  )
}

interface RequestFormProps {
  readonly endpoint: Endpoint
  /** By which what was typed is found. */
  readonly tried: string
}

function RequestForm({ endpoint, tried }: RequestFormProps) {
  const { method, uri, scopes } = endpoint
  const [typed, type] = useTried(tried)
  const isPublic = scopes.length === 0 || scopes.includes('*public')
  const { values = noValues, query = '', as = isPublic ? 'nobody' : 'me', isSigned = true } = typed
  const content = useEditorState(({ drawing }) => drawing.flow.get(endpoint.block))
  const [sample] = useState(() =>
    ['POST', 'PUT', 'PATCH'].includes(method) ? JSON.stringify(sampleBody(content, uri), undefined, 2) : '',
  )
  const { body = sample } = typed
  const form = useRequestForm(content, method, uri)
  const trying = useHandRun()
  const path = `${filledUri(uri, values)}${query === '' ? '' : `?${query.replace(/^\?/, '')}`}`
  const check = useEditorState(({ drawing }) => signatureCheckOf(drawing.flow, endpoint.block))
  const blueprint = useEditorState((state) => state.guid)
  const signedFor = check !== undefined && isSigned ? { blueprint, block: check } : undefined
  const asked = { method, path, body, signedIn: as === 'me', signedFor }
  const sending = useSending(asked)
  return (
    <form
      data-get={method === 'GET' || undefined}
      onSubmit={(event) => {
        event.preventDefault()
        sending.mutate()
      }}
    >
      <Stack gap="sm">
        <WhatRuns />
        <AddressFields form={form} values={values} query={query} onChange={type} />
        {method === 'GET' ? null : (
          <RequestBody fields={form.body} body={body} onChange={(text) => type({ body: text })} />
        )}
        {check === undefined ? null : (
          <SignSwitch checked={isSigned} onChange={(checked) => type({ isSigned: checked })} />
        )}
        <Group justify="space-between" wrap="nowrap">
          <SegmentedControl
            size="xs"
            aria-label={tryTexts.caller}
            data={[
              { value: 'me', label: tryTexts.signedIn },
              { value: 'nobody', label: tryTexts.anonymous },
            ]}
            value={as}
            onChange={(caller) => type({ as: caller === 'me' ? 'me' : 'nobody' })}
          />
          <Button type="submit" size="xs" aria-busy={sending.isPending}>
            {sending.isPending ? tryTexts.sending : tryTexts.send(method)}
          </Button>
        </Group>
        <Group justify="flex-end" gap={8} wrap="nowrap">
          <Text size="xs" c="dimmed" ta="right">
            {tryTexts.asDrawn}
          </Text>
          <Button
            size="xs"
            variant="default"
            style={{ flexShrink: 0 }}
            disabled={body !== '' && jsonMistake(body) !== ''}
            aria-busy={trying.isPending}
            onClick={() => {
              sending.reset()
              trying.mutate({
                trigger: method === 'ANY' ? endpoint.block : `${method} ${uri}`,
                effects: 'discard',
                anonymous: as === 'nobody',
                input: {
                  params: values,
                  query: queryOf(query),
                  ...(body !== '' && { body: JSON.parse(body) }),
                },
                // The run gets the body as this text, without the spaces that were typed.
                signed: signedFor && { ...asked, body: body === '' ? '' : JSON.stringify(JSON.parse(body)) },
              })
            }}
          >
            {tryTexts.tryWithoutEffects}
          </Button>
        </Group>
        <ErrorNotice error={trying.error} title={tryTexts.couldNotTryIt} />
        {trying.data && !sending.data ? <HandRunView key={trying.submittedAt} run={trying.data} /> : null}
        <ErrorNotice error={sending.error} title={tryTexts.couldNotSend} />
        {sending.data ? (
          <ReplyView key={sending.submittedAt} reply={sending.data} method={method} path={path} />
        ) : null}
      </Stack>
    </form>
  )
}

interface AddressFieldsProps {
  readonly form: FormFields
  readonly values: Readonly<Record<string, string>>
  readonly query: string
  readonly onChange: (typed: TriedInput) => void
}

/** What of the request is in its address. */
function AddressFields({ form, values, query, onChange }: AddressFieldsProps) {
  return (
    <>
      {form.path.map((field) => (
        <RequestFieldInput
          key={field.name}
          field={field}
          isBody={false}
          value={values[field.name] ?? ''}
          onChange={(value) => onChange({ values: { ...values, [field.name]: value } })}
        />
      ))}
      {form.query.map((field) => (
        <RequestFieldInput
          key={field.name}
          field={field}
          isBody={false}
          value={queryField(query, field.name)}
          onChange={(value) => onChange({ query: withQueryField(query, field, value) })}
        />
      ))}
      <TextInput
        size="xs"
        label={tryTexts.query}
        placeholder={tryTexts.queryExample}
        data-query
        leftSection="?"
        value={query}
        onChange={(event) => onChange({ query: event.currentTarget.value })}
      />
    </>
  )
}

/** Sends the request, and shows its run. */
function useSending(asked: Asked) {
  const editor = useEditor()
  return useMutation({
    mutationFn: () => sendRequest(asked),
    onMutate: () => {
      leaveRun(editor)
      editor.set({ isTrying: true })
    },
    onSuccess: ({ run }) => {
      if (run !== '') showRun(editor, run)
    },
    onSettled: () => editor.set({ isTrying: false }),
  })
}

interface SignSwitchProps {
  readonly checked: boolean
  readonly onChange: (checked: boolean) => void
}

function SignSwitch({ checked, onChange }: SignSwitchProps) {
  return (
    <Switch
      size="xs"
      label={tryTexts.signIt}
      description={tryTexts.signItHelp}
      checked={checked}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  )
}

/** Requests run what is deployed, not what is drawn: said wherever the two differ. */
function WhatRuns() {
  const editor = useEditor()
  const blueprint = useEditorState((state) => state.blueprint)
  const staged = useEditorState(({ known }) => [...known.values()].filter(({ staging }) => staging).length)
  if (blueprint?.active && staged === 0) return null
  return (
    <Alert color="sand" variant="light" p="xs">
      <Text size="xs">
        {blueprint?.active ? tryTexts.requestsRun(blueprint.version) : tryTexts.notActive}
      </Text>
      <Button
        size="compact-xs"
        variant="default"
        mt={6}
        onClick={() => editor.set({ dialog: { kind: 'deploy' } })}
      >
        {tryTexts.deploy}
      </Button>
    </Alert>
  )
}

function queryOf(query: string): Record<string, string | string[]> {
  const words = new URLSearchParams(query)
  return Object.fromEntries(
    [...new Set(words.keys())].map((name) => {
      const all = words.getAll(name)
      return [name, all.length === 1 ? (all[0] ?? '') : all]
    }),
  )
}

/** One block may serve several. */
function keyOf({ block, method, uri }: Endpoint): string {
  return `${block} ${method} ${uri}`
}

/** The fields of an endpoint's form. Those of a storage are missing where the user may not see its fields. */
function useRequestForm(content: BlockContent | undefined, method: string, uri: string): FormFields {
  const isResource = content?.type === RESOURCE_TYPE && (method === 'POST' || method === 'PUT')
  const schema = isResource ? inPinOf(content, 'storage')?.value : content?.fields.schema_storage
  const storage = typeof schema === 'string' ? schema : ''
  const { data: rules } = useQuery({ ...fieldsQuery(storage), enabled: storage !== '', retry: false })
  return useMemo(() => formOf(content, method, uri, rules ?? []), [content, method, uri, rules])
}
