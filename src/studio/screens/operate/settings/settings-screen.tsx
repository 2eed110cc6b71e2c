import {
  Badge,
  Button,
  Code,
  Group,
  NativeSelect,
  Skeleton,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useSearch } from 'wouter'
import type { OptionSetting } from '../../../../shared/api/operate/settings.ts'
import { setSetting, settingsQuery, unsetSetting } from '../../../api/operate.ts'
import { useDraft } from '../../../controls/hooks.ts'
import { Icon } from '../../../controls/icon.tsx'
import { notifyDone } from '../../../controls/notify.ts'
import { ScreenHead } from '../../../controls/screen-head.tsx'
import { ErrorNotice } from '../../../controls/states.tsx'
import { settingsTexts } from '../../../texts/settings.ts'
import { settingTitle } from './setting-title.ts'
import classes from './settings.module.css'

const sources = {
  environment: { label: settingsTexts.environment, color: 'blue' },
  setting: { label: settingsTexts.set, color: 'green' },
  default: { label: settingsTexts.default, color: 'gray' },
} as const

/** One option: what it is, its value, where that comes from, and a field where it can be changed. */
function SettingRow({ setting }: { readonly setting: OptionSetting }) {
  const { name, help, source, changeable } = setting
  const isEdited = changeable && source !== 'environment'
  return (
    <div className={classes.row}>
      <div className={classes.about}>
        <Text component="span" fw={600} mr={6}>
          {settingTitle(name)}
        </Text>
        <span className={classes.name}>{name}</span>{' '}
        <Badge color={sources[source].color}>{sources[source].label}</Badge>
        <Text size="sm" c="dimmed">
          {help}
        </Text>
      </div>
      <div className={classes.value}>
        {isEdited ? <SettingField setting={setting} /> : <FixedValue setting={setting} />}
      </div>
    </div>
  )
}

function FixedValue({
  setting: { name, secret, source, value, stored, changeable },
}: {
  readonly setting: OptionSetting
}) {
  const text = secret ? (source === 'default' ? settingsTexts.notSet : settingsTexts.setNeverShown) : value
  return (
    <>
      {secret || text === '' ? (
        <Text size="sm">{text || settingsTexts.empty}</Text>
      ) : (
        <Code className={classes.text}>{text}</Code>
      )}
      <Text size="xs" c="dimmed">
        {changeable
          ? settingsTexts.overridden(
              name,
              stored === null ? settingsTexts.aSetting : settingsTexts.theSetting(stored),
            )
          : settingsTexts.needsRestart(name)}
      </Text>
    </>
  )
}

/** Options of the server: those that change without a restart are edited in place. */
export function SettingsScreen() {
  const { data, error, refetch } = useQuery(settingsQuery)
  const search = useSearch()
  const [words, setWords] = useState(() => new URLSearchParams(search).get('q') ?? '')
  const found = (data ?? []).filter((setting) => isFound(setting, words))
  return (
    <>
      <ScreenHead title={settingsTexts.settings} about={settingsTexts.settingsAbout}>
        <TextInput
          aria-label={settingsTexts.searchSettings}
          placeholder={settingsTexts.searchSettings}
          leftSection={<Icon name="search" size={16} />}
          value={words}
          onChange={(event) => setWords(event.currentTarget.value)}
        />
      </ScreenHead>
      {error ? (
        <ErrorNotice error={error} title={settingsTexts.couldNotLoadSettings} onRetry={refetch} />
      ) : null}
      {data ? (
        <Stack gap="xl">
          <Settings
            title={settingsTexts.changeWithoutARestart}
            settings={found.filter((one) => one.changeable)}
          />
          <Settings title={settingsTexts.needARestart} settings={found.filter((one) => !one.changeable)} />
        </Stack>
      ) : error ? null : (
        <Skeleton height={400} />
      )}
    </>
  )
}

function isFound({ name, help }: OptionSetting, words: string): boolean {
  return `${settingTitle(name)} ${name} ${help}`.toLowerCase().includes(words.trim().toLowerCase())
}

function Settings({
  title,
  settings,
}: {
  readonly title: string
  readonly settings: readonly OptionSetting[]
}) {
  return (
    <section aria-label={title}>
      <Title order={2} size="h4" mb="xs">
        {title}
      </Title>
      <div className="surface">
        {settings.map((setting) => (
          <SettingRow key={setting.name} setting={setting} />
        ))}
        {settings.length === 0 ? (
          <Text size="sm" c="dimmed" p="md">
            {settingsTexts.noMatch}
          </Text>
        ) : null}
      </div>
    </section>
  )
}

/** The text of an option, saved with Enter or the button. The server says what is wrong with it. */
function SettingField({ setting }: { readonly setting: OptionSetting }) {
  const { name, value, accepts } = setting
  const title = settingTitle(name)
  const { draft, shown, set, saved } = useDraft({ text: value ?? '' })
  const { text } = draft
  const save = useMutation({
    mutationFn: (sent: string) => setSetting(name, sent, shown.text),
    onSuccess: (stored, sent) => {
      notifyDone(settingsTexts.is(title, stored))
      saved({ text: sent })
    },
  })
  const reset = useMutation({
    mutationFn: () => unsetSetting(name),
    onSuccess: () => {
      notifyDone(settingsTexts.hasItsDefaultAgain(title))
      saved({ text })
    },
  })
  const failed = save.error ?? reset.error
  const field = {
    'aria-label': title,
    value: text,
    error: failed?.message,
    onChange: (event: { readonly currentTarget: { readonly value: string } }) => {
      save.reset()
      set('text', event.currentTarget.value)
    },
  }
  const choices = choicesOf(accepts)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate(text)
      }}
    >
      {choices ? (
        <NativeSelect {...field} data={[...choices]} />
      ) : (
        <TextInput {...field} description={accepts} />
      )}
      <Group gap="xs" mt={6}>
        {text === value ? null : (
          <Button type="submit" size="compact-sm" loading={save.isPending}>
            {settingsTexts.save}
          </Button>
        )}
        <ResetSetting setting={setting} isPending={reset.isPending} onReset={reset.mutate} />
      </Group>
    </form>
  )
}

interface ResetSettingProps {
  readonly setting: OptionSetting
  readonly isPending: boolean
  readonly onReset: () => void
}

function ResetSetting({ setting, isPending, onReset }: ResetSettingProps) {
  if (setting.source !== 'setting') return null
  const text = settingsTexts.resetTo(setting.default)
  return (
    <Button
      size="compact-sm"
      variant="default"
      loading={isPending}
      aria-label={settingsTexts.reset(text, settingTitle(setting.name))}
      onClick={() => onReset()}
    >
      {text}
    </Button>
  )
}

/** The words that are accepted, where there is nothing else. */
function choicesOf(accepts: string): readonly string[] | undefined {
  const words = accepts.split(', ')
  return words.length > 1 && words.every((word) => /^[a-z]+$/.test(word)) ? words : undefined
}
