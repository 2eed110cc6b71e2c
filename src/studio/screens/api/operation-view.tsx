import { Badge, Code, CopyButton, Group, Stack, Table, Text, Title } from '@mantine/core'
import { type ApiDocument, type Operation, type Schema, schemaFields, typeWords } from '../../api/open-api.ts'
import { CopyAction } from '../../controls/actions.tsx'
import { MethodTag } from '../../controls/tags.tsx'
import { referenceTexts } from '../../texts/reference.ts'
import { TryOperation } from './try-operation.tsx'

interface OperationViewProps {
  readonly operation: Operation
  readonly document: ApiDocument
}

/** One endpoint: what it takes, what it replies, and a form to try it. */
export function OperationView({ operation, document }: OperationViewProps) {
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
