from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('payments', '0003_outcome_reasons'),
    ]

    operations = [
        migrations.AlterField(
            model_name='charge',
            name='provider',
            field=models.CharField(max_length=20),
        ),
        migrations.AddConstraint(
            model_name='charge',
            constraint=models.CheckConstraint(condition=models.Q(('provider', ''), _negated=True), name='charge_names_its_provider'),
        ),
    ]
