import {
  approve,
  dev,
  drift,
  plan,
  previews,
  pull,
  push,
  pushes,
  reject,
  releases,
  remoteAdd,
  rollback,
  uninstall,
} from './applications/release-commands.ts'
import { auditExport, auditVerify } from './audit-commands.ts'
import { check, client, exportBlueprintFile, importBlueprintFile } from './blueprint-commands.ts'
import type { Command } from './command.ts'
import { completion } from './completion/completion.ts'
import {
  connectionDocument,
  connectionGet,
  connectionList,
  connectionOperation,
  connectionOperations,
  connectionSet,
  connectionTry,
  connectionUnset,
} from './connections/connection-commands.ts'
import { backup, migrate, restore } from './data/data-commands.ts'
import { envGet, envList, envSet, envUnset } from './environment/env-commands.ts'
import {
  extensionList,
  extensionNew,
  extensionOff,
  extensionOn,
  extensionRemove,
  extensionTest,
} from './extensions/extension-commands.ts'
import { fieldAdd, fieldConvert, fieldList, fieldRemove, fieldRename } from './fields/field-commands.ts'
import { importFrom } from './import-from/import-from.ts'
import { keyCreate, keyList, keyRemove, keyRotate } from './keys/key-commands.ts'
import { mcp } from './mcp.ts'
import { rowsImport } from './rows/rows-import.ts'
import { run, undo } from './runs/run-commands.ts'
import { test } from './scenarios/test.ts'
import { secretList, secretRotate, secretSet, secretUnset } from './secrets/secret-commands.ts'
import { settingList, settingSet, settingUnset } from './settings/setting-commands.ts'
import { login, logout } from './sign-in/sign-in-commands.ts'
import {
  spaceBackup,
  spaceCreate,
  spaceDelete,
  spaceList,
  spaceSet,
  spaceShow,
} from './spaces/space-commands.ts'
import { start } from './start.ts'
import { storageAdd, storageList, storageRemove } from './storages/storage-commands.ts'
import {
  userCreate,
  userImport,
  userResetPassword,
  userResetSecondFactor,
  userWhoMay,
} from './user-commands.ts'
import { waitCancel, waitContinue, waitList, waitMove, waitShow } from './waits/wait-commands.ts'

const working: readonly Command[] = [
  start,
  check,
  test,
  pull,
  plan,
  push,
  previews,
  pushes,
  approve,
  reject,
  releases,
  rollback,
  uninstall,
  dev,
  drift,
  remoteAdd,
  exportBlueprintFile,
  importBlueprintFile,
  rowsImport,
  importFrom,
  storageList,
  storageAdd,
  storageRemove,
  fieldList,
  fieldAdd,
  fieldRename,
  fieldConvert,
  fieldRemove,
  login,
  logout,
  auditExport,
  auditVerify,
  userCreate,
  userImport,
  userResetPassword,
  userResetSecondFactor,
  userWhoMay,
  envList,
  envGet,
  envSet,
  envUnset,
  secretList,
  secretSet,
  secretUnset,
  secretRotate,
  connectionList,
  connectionGet,
  connectionSet,
  connectionUnset,
  connectionTry,
  connectionDocument,
  connectionOperations,
  connectionOperation,
  extensionNew,
  extensionTest,
  extensionList,
  extensionOn,
  extensionOff,
  extensionRemove,
  settingList,
  settingSet,
  settingUnset,
  spaceList,
  spaceCreate,
  spaceShow,
  spaceSet,
  spaceBackup,
  spaceDelete,
  keyList,
  keyCreate,
  keyRotate,
  keyRemove,
  run,
  undo,
  client,
  mcp,
  waitList,
  waitShow,
  waitContinue,
  waitMove,
  waitCancel,
  backup,
  restore,
  migrate,
]

/** Every command, in the order of `quoin --help`. */
export const commands: readonly Command[] = [...working, completion(working)]
