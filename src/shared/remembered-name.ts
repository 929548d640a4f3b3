const NAME = 'name';

/**
 * The account that an object belongs to. An id knows its name only when a caller used it: an alarm that
 * wakes the object after a restart has to find it in storage.
 */
export const rememberedName = (ctx: DurableObjectState): string => {
  const remembered = ctx.storage.kv.get<string>(NAME);
  if (remembered) return remembered;
  if (!ctx.id.name) throw new Error('The object is addressed by the id of its account.');
  ctx.storage.kv.put(NAME, ctx.id.name);
  return ctx.id.name;
};
