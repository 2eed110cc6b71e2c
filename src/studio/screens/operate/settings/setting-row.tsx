import { Badge, Code, Text } from '@mantine/core'
import type { OptionSetting } from '../../../../shared/api/operate/settings.ts'
import { SettingField } from './setting-field.tsx'
import classes from './settings.module.css'

const sources = {
  environment: { label: 'environment', color: 'blue' },
  setting: { label: 'set', color: 'green' },
  default: { label: 'default', color: 'gray' },
} as const

/** One option: what it is, its value, where that comes from, and a field where it can be changed. */
export function SettingRow({ setting }: { readonly setting: OptionSetting }) {
  const { name, help, source, changeable } = setting
  const isEdited = changeable && source !== 'environment'
  return (
    <div className={classes.row}>
      <div className={classes.about}>
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
  const text = secret ? (source === 'default' ? 'not set' : 'set, never shown') : value
  return (
    <>
      {secret || text === '' ? (
        <Text size="sm">{text || 'empty'}</Text>
      ) : (
        <Code className={classes.text}>{text}</Code>
      )}
      <Text size="xs" c="dimmed">
        {changeable
          ? `The environment of this node sets ${name}, which overrides ${stored === null ? 'a setting' : `the setting ${stored}`}.`
          : `Needs a restart: ${name} in the environment.`}
      </Text>
    </>
  )
}
