import { existsSync } from 'node:fs'
import { link, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorText } from '@dsh/core'
import type { DoctorCheck, DoctorFinding } from '@dsh/host'
import { layerEnvironment } from '../environment.ts'

/** Whether sessions can be written, and how. Tries it in a directory of its own, which is gone afterwards. */
export const home: DoctorCheck = async ({ home: dir }) => {
  const place = nearestExisting(dir)
  let probe: string | undefined
  try {
    probe = await mkdtemp(join(place, '.dsh-doctor-'))
    await writeFile(join(probe, 'a'), 'x')
    const text = place === dir ? `${dir} is writable` : `${dir} will be made on first use`
    return [{ check: 'home', status: 'ok', text }, await hardLinks(probe)]
  } catch (error) {
    return [
      {
        check: 'home',
        status: 'fail',
        text: `${dir} cannot be written: ${errorText(error)}`,
        remedy: 'make it writable, or point DSH_HOME at a directory that is',
      },
    ]
  } finally {
    if (probe !== undefined) await rm(probe, { recursive: true, force: true })
  }
}

async function hardLinks(probe: string): Promise<DoctorFinding> {
  try {
    await link(join(probe, 'a'), join(probe, 'b'))
    return { check: 'hard links', status: 'ok', text: 'supported by the home’s file system' }
  } catch {
    return {
      check: 'hard links',
      status: 'note',
      text: 'not supported by the home’s file system: new logs are made by exclusive creation instead',
    }
  }
}

/** Whether the `.env` files of this directory and the home would be accepted. */
export const envFiles: DoctorCheck = async ({ home: dir, cwd, env }) => {
  const warnings: string[] = []
  try {
    layerEnvironment({ env: { ...env }, cwd, home: dir, warn: (line) => warnings.push(line) })
  } catch (error) {
    return [{ check: '.env', status: 'fail', text: errorText(error), remedy: 'take the line out of that file' }]
  }
  return warnings.map((text) => ({ check: '.env', status: 'note' as const, text }))
}

function nearestExisting(dir: string): string {
  return existsSync(dir) || dirname(dir) === dir ? dir : nearestExisting(dirname(dir))
}
