import { Badge, Code, Group, Stack, Table, Text, TextInput, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { BlockDescription, InPin } from '../../../shared/api/blocks/blocks.ts'
import { blockTypesQuery } from '../../api/block-types.ts'
import { groupTitle } from '../../controls/block-groups.ts'
import { useOpened } from '../../controls/hooks.ts'
import { Icon } from '../../controls/icon.tsx'
import { shortJson } from '../../controls/json/json-text.ts'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { ErrorNotice, LoadingScreen } from '../../controls/states.tsx'
import { referenceTexts } from '../../texts/blueprints.ts'
import pinTableClasses from './pin-table.module.css'
import classes from './two-columns.module.css'

/** Every kind of block: what it does, its pins, its settings. */
export function BlocksScreen() {
  const { data: blocks, error, refetch } = useQuery(blockTypesQuery)
  const [open, setOpen] = useOpened()
  const [typed, setTyped] = useState('')
  if (error) return <ErrorNotice error={error} title={referenceTexts.couldNotLoadBlocks} onRetry={refetch} />
  if (!blocks) return <LoadingScreen />
  const words = typed.toLowerCase().split(/\s+/)
  const shown = blocks.filter((block) => {
    const text = `${block.identifier} ${block.title} ${block.summary} ${block.group}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
  const opened = blocks.find(({ identifier }) => identifier === open) ?? shown[0] ?? blocks[0]
  return (
    <>
      <ScreenHead title={referenceTexts.blocks} about={referenceTexts.blocksAbout} />
      <div className={classes.columns}>
        <div className={classes.list}>
          <TextInput
            aria-label={referenceTexts.findABlock}
            placeholder={referenceTexts.findABlock}
            leftSection={<Icon name="search" size={16} />}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            mb="sm"
          />
          <nav aria-label={referenceTexts.blocks}>
            {[...Map.groupBy(shown, ({ group }) => group)].map(([group, list]) => (
              <section key={group}>
                <h2 className={classes.tag}>{groupTitle(group)}</h2>
                <ul className={classes.items}>
                  {list.map((block) => (
                    <li key={block.identifier}>
                      <button
                        type="button"
                        className={classes.item}
                        aria-current={block === opened}
                        onClick={() => setOpen(block.identifier)}
                      >
                        {block.title}
                      </button>
                    </li>
                  ))}
                </ul>
              </section>
            ))}
          </nav>
        </div>
        {opened ? <BlockView block={opened} /> : null}
      </div>
    </>
  )
}

const kinds = {
  value: referenceTexts.givesAValue,
  flow: referenceTexts.runsOnASignal,
  trigger: referenceTexts.startsRuns,
} as const

function BlockView({ block }: { readonly block: BlockDescription }) {
  const { identifier, title, summary, kind, settings, aliases } = block
  const rows = Object.entries(settings)
  return (
    <Stack gap="lg" component="article">
      <div>
        <Title order={2}>{title}</Title>
        <Group gap={6} mt={4}>
          <Code>{identifier}</Code>
          {aliases.map((alias) => (
            <Code key={alias}>{alias}</Code>
          ))}
          <Badge color="petrol">{kinds[kind]}</Badge>
        </Group>
        <Text mt="sm" maw="75ch">
          {summary}
        </Text>
      </div>
      <PinTable title={referenceTexts.pinsIn} pins={block.in} />
      <PinTable title={referenceTexts.pinsOut} pins={block.out} />
      {rows.length > 0 ? (
        <section>
          <Title order={3} size="h5" mb="xs">
            {referenceTexts.settings}
          </Title>
          <div className="surface">
            <Table aria-label={referenceTexts.settings}>
              <Table.Tbody>
                {rows.map(([name, setting]) => (
                  <Table.Tr key={name}>
                    <Table.Td w="26%">
                      <Text span size="sm" ff="monospace">
                        {name}
                      </Text>
                    </Table.Td>
                    <Table.Td w="16%">
                      <Badge color="gray">{setting.kind}</Badge>
                    </Table.Td>
                    <Table.Td>
                      <Text size="sm">{setting.help}</Text>
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </div>
        </section>
      ) : null}
    </Stack>
  )
}

interface PinTableProps {
  readonly title: string
  readonly pins: Readonly<Record<string, InPin>>
}

function PinTable({ title, pins }: PinTableProps) {
  const rows = Object.entries(pins)
  if (rows.length === 0) return null
  return (
    <section>
      <Title order={3} size="h5" mb="xs">
        {title}
      </Title>
      <div className="surface">
        <Table aria-label={title}>
          <Table.Tbody>
            {rows.map(([name, pin]) => (
              <Table.Tr key={name} className={pinTableClasses.row}>
                <Table.Td w="26%">
                  <Text span size="sm" ff="monospace">
                    {name}
                  </Text>
                  {pin.required ? (
                    <Text span size="xs" c="dimmed" ml={6}>
                      {referenceTexts.needed}
                    </Text>
                  ) : null}
                </Table.Td>
                <Table.Td w="16%">
                  <Badge color={pin.type === 'flow' ? 'sand' : 'gray'} miw="max-content">
                    {pin.type}
                  </Badge>
                </Table.Td>
                <Table.Td>
                  <Text size="sm">
                    {pin.help}
                    {pin.default === undefined ? '' : referenceTexts.default(shortJson(pin.default))}
                  </Text>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
    </section>
  )
}
