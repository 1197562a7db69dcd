/** What the model reads about these tools, beside their schemas. */

export const readDescription = 'Read a UTF-8 text file and return line-numbered content.'
export const readImageDescription =
  'Read a PNG/JPEG/WebP/GIF file and return the image itself. A path without a file extension is accepted; the format is detected from the file content, so normalized attachment paths can be passed directly without copying or renaming. Harness validates and downscales large supported images before the next model request, so use this tool directly instead of installing image libraries or creating thumbnails merely to inspect an image. Independent files may be read concurrently in small batches. Requires the current model to accept image input.'
export const writeDescription = 'Create or fully replace a UTF-8 text file.'
export const editDescription = 'Edit an existing UTF-8 text file by replacing literal text.'
export const applyPatchDescription = `Add, update, move and delete files with one patch in this form:
*** Begin Patch
*** Add File: path/new.txt
+every line of the new file
*** Update File: path/old.txt
*** Move to: path/renamed.txt
@@ line that narrows the place
 unchanged line
-removed line
+added line
*** Delete File: path/obsolete.txt
*** End Patch
\`*** Move to\` is optional. Lines of an update start with a space (unchanged), - (removed) or + (added); give about three unchanged lines around a change, and @@ with a class or function line where they are not unique. Paths are relative to the session directory.`

export const readGuidance =
  'Use the read tool — not shell commands like cat — to inspect text files. Use offset and limit to continue reading large files.'
export function writeGuidance(editIsVisible: boolean): string {
  const first = 'Read an existing file before overwriting it with write (the default fs-observation-policy requires it)'
  return editIsVisible ? `${first} and prefer edit for targeted changes.` : `${first}.`
}
export const editGuidance =
  'Read a file before editing it (the default fs-observation-policy requires it), unless you just created or edited it in this session.'
export const applyPatchGuidance =
  'Prefer apply_patch over separate edit calls for changes across files or separated regions. Read a file before updating, deleting, or moving it (the default fs-observation-policy requires it), unless you just created or edited it in this session. The whole patch is checked first (syntax, hunk matching, missing files) and a rejected patch changes nothing; once applying starts, operations run in order, stop at the first failure, and are not rolled back, so re-read affected files before retrying when needed.'
