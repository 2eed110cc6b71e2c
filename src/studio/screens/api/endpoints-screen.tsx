import {
  Anchor,
  Badge,
  Button,
  Code,
  CopyButton,
  Group,
  Stack,
  Table,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { Link } from 'wouter'
import {
  type ApiDocument,
  type Operation,
  openApiQuery,
  operationsByTag,
  type Schema,
  schemaFields,
  typeWords,
} from '../../api/open-api.ts'
import { CopyAction } from '../../controls/actions.tsx'
import { useOpened } from '../../controls/hooks.ts'
import { Icon } from '../../controls/icon.tsx'
import { whoMayPath } from '../../controls/lists/list-address.ts'
import { saveFile } from '../../controls/save-file.ts'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { EmptyState, ErrorNotice, LoadingScreen } from '../../controls/states.tsx'
import { MethodTag } from '../../controls/tags.tsx'
import { referenceTexts } from '../../texts/blueprints.ts'
import { TryOperation } from './try-operation.tsx'
import classes from './two-columns.module.css'

/** What can be asked of this cluster: endpoints of blueprints first, then Quoin's own; each can be tried. */
export function EndpointsScreen() {
  const { data: document, error, refetch } = useQuery(openApiQuery)
  const [open, setOpen] = useOpened()
  const [typed, setTyped] = useState('')
  const byTag = useMemo(
    () => (document ? operationsByTag(document) : new Map<string, Operation[]>()),
    [document],
  )
  const shown = useMemo(() => matching(byTag, typed), [byTag, typed])
  const all = [...byTag.values()].flat()
  const opened = all.find(({ id }) => id === open) ?? all[0]
  if (error) return <ErrorNotice error={error} title={referenceTexts.couldNotLoadApi} onRetry={refetch} />
  if (!document) return <LoadingScreen />
  return (
    <>
      <ScreenHead
        title={referenceTexts.api}
        about={
          <>
            {referenceTexts.apiAbout}{' '}
            <Anchor href="/docs" target="_blank" inherit underline="always">
              {referenceTexts.docs}
            </Anchor>
            .
          </>
        }
      >
        <Button
          variant="default"
          leftSection={<Icon name="download" size={16} />}
          onClick={() => saveFile('openapi.json', asFile(document))}
        >
          {referenceTexts.openapi}
        </Button>
      </ScreenHead>
      <div className={classes.columns}>
        <div className={classes.list}>
          <TextInput
            aria-label={referenceTexts.findAnEndpoint}
            placeholder={referenceTexts.findAnEndpoint}
            leftSection={<Icon name="search" size={16} />}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            mb="sm"
          />
          <OperationList byTag={shown} open={opened?.id ?? ''} onOpen={setOpen} />
        </div>
        {opened ? (
          <OperationView key={opened.id} operation={opened} document={document} />
        ) : (
          <EmptyState icon="api" title={referenceTexts.noEndpoint} />
        )}
      </div>
    </>
  )
}

/** What was read with the token of who looks; the address without one gives less. */
const asFile = (document: ApiDocument) =>
  new Blob([JSON.stringify(document, undefined, 2)], { type: 'application/json' })

function matching(byTag: ReadonlyMap<string, readonly Operation[]>, typed: string) {
  const words = typed.toLowerCase().split(/\s+/)
  const fits = ({ id, summary = '', tags = [] }: Operation) => {
    const text = `${id} ${summary} ${tags.join(' ')}`.toLowerCase()
    return words.every((word) => text.includes(word))
  }
  return [...byTag].flatMap(([tag, list]) => {
    const found = list.filter(fits)
    return found.length > 0 ? [{ tag, operations: found }] : []
  })
}

interface OperationListProps {
  readonly byTag: readonly { readonly tag: string; readonly operations: readonly Operation[] }[]
  readonly open: string
  readonly onOpen: (id: string) => void
}

function OperationList({ byTag, open, onOpen }: OperationListProps) {
  if (byTag.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {referenceTexts.noMatch}
      </Text>
    )
  return (
    <nav aria-label={referenceTexts.endpoints}>
      {byTag.map(({ tag, operations }) => (
        <section key={tag}>
          <h2 className={classes.tag}>{tag}</h2>
          <ul className={classes.items}>
            {operations.map((operation) => (
              <li key={operation.id}>
                <button
                  type="button"
                  className={classes.item}
                  aria-current={operation.id === open}
                  title={operation.id}
                  onClick={() => onOpen(operation.id)}
                >
                  <MethodTag method={operation.method} />
                  <span>{operation.summary ?? operation.path}</span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </nav>
  )
}

interface OperationViewProps {
  readonly operation: Operation
  readonly document: ApiDocument
}

/** One endpoint: what it takes, what it replies, and a form to try it. */
function OperationView({ operation, document }: OperationViewProps) {
  const { method, path, summary, description, security, requestBody, responses, isCustom } = operation
  const [, body] = Object.entries(requestBody?.content ?? {})[0] ?? []
  const replies = Object.entries(responses)
  return (
    <Stack gap="lg" component="article">
      <div>
        <Title order={2}>{summary ?? path}</Title>
        <Group gap={6} mt={4}>
          <MethodTag method={method} />
          <Code>{path}</Code>
          <CopyButton value={`${location.origin}${path}`}>{(state) => <CopyAction {...state} />}</CopyButton>
          {isCustom ? <Badge color="sand">{referenceTexts.ofABlueprint}</Badge> : null}
          {isCustom ? <WhoMayCallIt endpoint={`${method.toUpperCase()} ${path}`} /> : null}
          <Badge color="gray">{security?.length ? referenceTexts.needsAToken : referenceTexts.public}</Badge>
        </Group>
        {description === undefined ? null : (
          <Text size="sm" mt="sm" style={{ whiteSpace: 'pre-line' }}>
            {description.replaceAll('`', '')}
          </Text>
        )}
      </div>
      <TryOperation operation={operation} document={document} />
      {body?.schema ? (
        <section>
          <Title order={3} size="h5" mb="xs">
            {referenceTexts.body}
          </Title>
          <SchemaTable schema={body.schema} document={document} label={referenceTexts.fieldsOfTheBody} />
        </section>
      ) : null}
      {replies.map(([status, reply]) => {
        const [, content] = Object.entries(reply.content ?? {})[0] ?? []
        const isGood = status.startsWith('2')
        return (
          <section key={status}>
            <Group gap="xs" mb={4}>
              <Badge color={isGood ? 'green' : 'gray'}>{status}</Badge>
              <Text size="sm">
                {reply.description === 'Default Response' ? '' : reply.description.replaceAll('`', '')}
              </Text>
            </Group>
            {isGood && content?.schema ? (
              <SchemaTable
                schema={content.schema}
                document={document}
                label={referenceTexts.fieldsOfTheReply(status)}
              />
            ) : null}
          </section>
        )
      })}
    </Stack>
  )
}

function WhoMayCallIt({ endpoint }: { readonly endpoint: string }) {
  return (
    <Anchor component={Link} href={whoMayPath('endpoint', endpoint)} size="sm">
      {referenceTexts.whoMayCallIt}
    </Anchor>
  )
}

interface SchemaTableProps {
  readonly schema: Schema
  readonly document: ApiDocument
  readonly label: string
}

function SchemaTable({ schema, document, label }: SchemaTableProps) {
  const fields = schemaFields(schema, document)
  if (fields.length === 0) return <Code>{typeWords(schema, document)}</Code>
  return (
    <div className="surface">
      <Table aria-label={label} layout="fixed">
        <Table.Tbody>
          {fields.map(({ name, type, required, description }) => (
            <Table.Tr key={name}>
              <Table.Td w="34%" style={{ verticalAlign: 'top', overflowWrap: 'anywhere' }}>
                <Text span size="sm" ff="monospace">
                  {name}
                </Text>
                {required ? (
                  <Text span size="xs" c="dimmed" ml={6}>
                    {referenceTexts.needed}
                  </Text>
                ) : null}
              </Table.Td>
              <Table.Td w="22%" style={{ verticalAlign: 'top', overflowWrap: 'anywhere' }}>
                <Text size="xs" ff="monospace" c="dimmed">
                  {type}
                </Text>
              </Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                <Text size="sm">{description.replaceAll('`', '')}</Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  )
}
