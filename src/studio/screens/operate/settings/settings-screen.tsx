import { Skeleton, Stack, Text, TextInput, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { OptionSetting } from '../../../../shared/api/operate/settings.ts'
import { settingsQuery } from '../../../api/settings.ts'
import { ErrorNotice } from '../../../controls/error-notice.tsx'
import { Icon } from '../../../controls/icon.tsx'
import { ScreenHead } from '../../../controls/screen-head.tsx'
import { settingsTexts } from '../../../texts/settings.ts'
import { SettingRow } from './setting-row.tsx'
import { settingTitle } from './setting-title.ts'

/** Options of the server: those that change without a restart are edited in place. */
export function SettingsScreen() {
  const { data, error, refetch } = useQuery(settingsQuery)
  const [words, setWords] = useState('')
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
