import { Alert, Badge, Button, Group, List, Skeleton, Stack, Switch, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Extension } from '../../../shared/api/operate/extensions.ts'
import { extensionsQuery, removeExtension, switchExtension } from '../../api/operate.ts'
import { RemoveAction } from '../../controls/actions.tsx'
import { confirm } from '../../controls/confirm.ts'
import { notifyAbout } from '../../controls/notify.ts'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { EmptyState, ErrorNotice } from '../../controls/states.tsx'
import { extensionTexts } from '../../texts/settings.ts'

type Stored = Extension['stored'][number]
type Version = Pick<Stored, 'version' | 'hash' | 'permissions'>

/** Blocks that are not part of Quoin: what they may do, and which are on. */
export function ExtensionsScreen() {
  const { data, error, refetch } = useQuery(extensionsQuery)
  return (
    <>
      <ScreenHead title={extensionTexts.extensions} about={extensionTexts.about} />
      {error ? <ErrorNotice error={error} title={extensionTexts.couldNotLoad} onRetry={refetch} /> : null}
      {data ? (
        <Stack gap="md">
          {data.map((one) => (
            <ExtensionCard key={one.name} extension={one} />
          ))}
          {data.length === 0 ? (
            <div className="surface">
              <EmptyState title={extensionTexts.none} icon="blueprint">
                {extensionTexts.noneText}
              </EmptyState>
            </div>
          ) : null}
        </Stack>
      ) : error ? null : (
        <Skeleton height={160} />
      )}
    </>
  )
}

function ExtensionCard({ extension }: { readonly extension: Extension }) {
  const { name, found, stored } = extension
  const on = stored.find((one) => one.on)
  const offered = found ?? stored.at(-1)
  const former = stored.filter((one) => one.used_by.length > 0 && one !== on)
  return (
    <section className="surface" aria-label={name}>
      <Stack p="md" gap="sm">
        <Group justify="space-between" align="flex-start">
          <Group gap="xs">
            <Title order={2} size="h4">
              {name}
            </Title>
            <Badge color={on ? 'green' : 'gray'}>
              {on ? extensionTexts.version(on.version) : extensionTexts.off}
            </Badge>
          </Group>
          <Group gap="xs">
            {on && found && found.hash !== on.hash && found.problems.length === 0 ? (
              <Button size="compact-sm" variant="default" onClick={() => askToSwitchOn(name, found)}>
                {extensionTexts.switchTo(found.version)}
              </Button>
            ) : null}
            <Switch
              aria-label={extensionTexts.switchOf(name)}
              checked={on !== undefined}
              disabled={!on && (!offered || (found?.problems.length ?? 0) > 0)}
              onChange={() => (on ? askToSwitchOff(name) : offered && askToSwitchOn(name, offered))}
            />
            {on || stored.length === 0 ? null : (
              <RemoveAction label={extensionTexts.remove(name)} onClick={() => askToRemove(name)} />
            )}
          </Group>
        </Group>
        {offered?.description ? <Text size="sm">{offered.description}</Text> : null}
        {offered ? <MayDo permissions={offered.permissions} /> : null}
        {found ? <Blocks blocks={found.blocks} /> : null}
        {[...(on ? [on] : []), ...former].map((one) => (
          <UsedBy key={one.hash} version={one} />
        ))}
        {found && found.problems.length > 0 ? (
          <Alert color="red" title={extensionTexts.problems}>
            {found.problems.map((problem) => (
              <Text key={problem} size="sm" style={{ overflowWrap: 'anywhere' }}>
                {problem}
              </Text>
            ))}
          </Alert>
        ) : null}
      </Stack>
    </section>
  )
}

function UsedBy({ version: { version, used_by: used } }: { readonly version: Stored }) {
  if (used.length === 0) return null
  return (
    <Text size="sm" c="dimmed">
      {extensionTexts.usedBy(version, used.join(', '))}
    </Text>
  )
}

function MayDo({ permissions }: Pick<Version, 'permissions'>) {
  return (
    <List size="sm">
      {wordsOf(permissions).map((words) => (
        <List.Item key={words}>{words}</List.Item>
      ))}
    </List>
  )
}

function Blocks({ blocks }: { readonly blocks: NonNullable<Extension['found']>['blocks'] }) {
  return (
    <Stack gap={2}>
      {blocks.map(({ identifier, title, summary }) => (
        <Text key={identifier} size="sm">
          <b>{title}</b> {summary}
        </Text>
      ))}
    </Stack>
  )
}

function wordsOf({ hosts, read, write }: Version['permissions']): string[] {
  const listed = (names: readonly string[]) =>
    names.map((name) => (name === '*' ? extensionTexts.all : name)).join(', ')
  const words = [
    ...(hosts.length > 0 ? [extensionTexts.calls(listed(hosts))] : []),
    ...(read.length > 0 ? [extensionTexts.reads(listed(read))] : []),
    ...(write.length > 0 ? [extensionTexts.changes(listed(write))] : []),
  ]
  return words.length > 0 ? words : [extensionTexts.onlyInputs]
}

function askToSwitchOn(name: string, { version, hash, permissions }: Version): void {
  confirm({
    title: extensionTexts.switchOnTitle(name, version),
    text: `${wordsOf(permissions).join(' ')} ${extensionTexts.switchOnText}`,
    action: extensionTexts.switchOn,
    isHarmless: true,
    run: () => switchExtension(name, { on: true, hash }),
  })
}

function askToSwitchOff(name: string): void {
  confirm({
    title: extensionTexts.switchOffTitle(name),
    text: extensionTexts.switchOffText,
    action: extensionTexts.switchOff,
    run: () => switchExtension(name, { on: false }),
  })
}

function askToRemove(name: string): void {
  confirm({
    title: extensionTexts.removeTitle(name),
    text: extensionTexts.removeText,
    action: extensionTexts.removeLabel,
    run: async () => {
      const { warnings } = await removeExtension(name)
      if (warnings.length > 0) notifyAbout(extensionTexts.stillUsed(name), warnings.join(' '))
    },
  })
}
