import { Badge, Code, Text } from '@mantine/core'
import type { OptionSetting } from '../../../../shared/api/operate/settings.ts'
import { settingsTexts } from '../../../texts/settings.ts'
import { SettingField } from './setting-field.tsx'
import { settingTitle } from './setting-title.ts'
import classes from './settings.module.css'

const sources = {
  environment: { label: settingsTexts.environment, color: 'blue' },
  setting: { label: settingsTexts.set, color: 'green' },
  default: { label: settingsTexts.default, color: 'gray' },
} as const

/** One option: what it is, its value, where that comes from, and a field where it can be changed. */
export function SettingRow({ setting }: { readonly setting: OptionSetting }) {
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
        {isEdited ? (
          // Another one's change, or a reset, begins with the stored text again.
          <SettingField key={`${source} ${setting.value}`} setting={setting} />
        ) : (
          <FixedValue setting={setting} />
        )}
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
